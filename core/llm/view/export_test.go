package view

// OfHistoryIn is OfHistory with another first page.
var OfHistoryIn = ofHistory
