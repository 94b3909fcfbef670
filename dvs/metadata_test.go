package dvs_test
