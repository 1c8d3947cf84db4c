// Package chattext cuts long Markdown for chat platforms (Split, Fences) and knows the characters that nobody sees (Invisible).
package chattext
