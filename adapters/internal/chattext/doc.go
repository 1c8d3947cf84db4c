// Package chattext cuts long Markdown for chat platforms (Split, Fences) and detects invisible characters (Invisible).
package chattext
