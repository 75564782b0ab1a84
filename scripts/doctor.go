package scripts

import (
	"slices"

	"adgateway/ps"
)

// doctorFolder contains the files that only the doctor's sessions load.
const doctorFolder = "doctor/"

const doctorPrelude = doctorFolder + commonPrelude

// DoctorPrelude returns the text that a session of the doctor loads before its scripts.
func DoctorPrelude(lane ps.Lane) ps.Source { return joined(doctorPreludes(lane)) }

func doctorPreludes(lane ps.Lane) []string { return append(preludes(lane), doctorPrelude) }

// DoctorSources returns the scripts of a session of the doctor. These are the scripts of the lane and the
// doctor's own scripts, which check the rights of an installation and the assumptions about it.
func DoctorSources(lane ps.Lane) []ps.Source {
	return sources(slices.Concat(list(lane), doctorList(lane)))
}

// doctorList returns the files of the doctor's own scripts for a lane.
func doctorList(lane ps.Lane) []string { return folder(doctorFolder + folders[lane]) }

const surveyFile = doctorFolder + "survey.ps1"

// Survey returns the lines that the doctor runs in a PowerShell process without a session. They work in every
// language mode and write one line, [SurveyMark] followed by JSON.
func Survey() string { return read(surveyFile) }

// SurveyMark starts the line that the survey writes.
const SurveyMark = "adgateway-survey "
