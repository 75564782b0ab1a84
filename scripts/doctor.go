package scripts

import (
	"slices"

	"adgateway/ps"
)

// doctorFolder holds what only sessions of the doctor load.
const doctorFolder = "doctor/"

const doctorPrelude = doctorFolder + commonPrelude

// DoctorPrelude is what a session of the doctor loads before its scripts.
func DoctorPrelude(lane ps.Lane) ps.Source { return joined(doctorPreludes(lane)) }

func doctorPreludes(lane ps.Lane) []string { return append(preludes(lane), doctorPrelude) }

// DoctorSources are the scripts of a session of the doctor: all of the lane,
// and its own, which read what an installation may do and try what is open.
func DoctorSources(lane ps.Lane) []ps.Source {
	return sources(slices.Concat(list(lane), doctorList(lane)))
}

// doctorList returns the files of the doctor's own scripts of a lane.
func doctorList(lane ps.Lane) []string { return folder(doctorFolder + folders[lane]) }

// DescribeDoctor is [Describe] for the scripts of the doctor's sessions.
func DescribeDoctor() ([]ps.Script, error) {
	return describeAll(doctorPreludes, func(lane ps.Lane) []string { return slices.Concat(list(lane), doctorList(lane)) })
}

// Survey is what the doctor gives a PowerShell to run line by line, without a
// session: it works in every language mode, and writes one line of JSON after
// [SurveyMark].
func Survey() string { return read(doctorFolder + "survey.ps1") }

// SurveyMark begins the line that the survey writes.
const SurveyMark = "adgateway-survey "
