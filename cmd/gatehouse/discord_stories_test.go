package main

func (d *onDiscord) nobodyIsCalled() {}
