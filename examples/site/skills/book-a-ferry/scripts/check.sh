#!/bin/sh
# Checks the form of a ticket number, such as F-7K2M9Q.
case "$1" in
F-[A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7][A-Z2-7]) echo "well-formed" ;;
*) echo "not a ticket number" && exit 1 ;;
esac
