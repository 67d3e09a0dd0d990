module example.org/wordcount

go 1.21
