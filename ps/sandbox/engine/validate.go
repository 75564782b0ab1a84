package engine

import (
	"fmt"
	"strings"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/syntax"
)

// validator is a Validate* attribute. The error is what its message says.
type validator interface {
	validate(f *frame, v any) error
}

// invalid is the error of a validator.
func invalid(format string, args ...any) error {
	e := dotnet.NewException(exceptionType("System.Management.Automation.ValidationMetadataException"), fmt.Sprintf(format, args...))
	return dotnet.AsRecord(e)
}

// elements applies a check to each item of a collection, or to the one value.
func elements(v any, check func(v any) error) error {
	items, ok := dotnet.Enumerate(v)
	if !ok {
		return check(v)
	}
	for _, item := range items {
		if err := check(item); err != nil {
			return err
		}
	}
	return nil
}

type validateSetAttr struct {
	values []string
	exact  bool
}

func (a *validateSetAttr) validate(_ *frame, v any) error {
	return elements(v, func(v any) error {
		text := dotnet.ToText(v)
		for _, allowed := range a.values {
			if text == allowed || !a.exact && strings.EqualFold(text, allowed) {
				return nil
			}
		}
		return invalid("The argument \"%s\" does not belong to the set \"%s\" specified by the ValidateSet attribute. Supply an argument that is in the set and then try the command again.",
			text, strings.Join(a.values, ","))
	})
}

type validateRangeAttr struct{ low, high any }

func (a *validateRangeAttr) validate(_ *frame, v any) error {
	return elements(v, func(v any) error {
		if c, err := dotnet.Compare(v, a.low, false); err != nil || c < 0 {
			return invalid("The %s argument is less than the minimum allowed range of %s. Supply an argument that is greater than or equal to %s and then try the command again.",
				dotnet.ToText(v), dotnet.ToText(a.low), dotnet.ToText(a.low))
		}
		if c, err := dotnet.Compare(v, a.high, false); err != nil || c > 0 {
			return invalid("The %s argument is greater than the maximum allowed range of %s. Supply an argument that is less than or equal to %s and then try the command again.",
				dotnet.ToText(v), dotnet.ToText(a.high), dotnet.ToText(a.high))
		}
		return nil
	})
}

type validateLengthAttr struct{ low, high int32 }

func (a *validateLengthAttr) validate(_ *frame, v any) error {
	return elements(v, func(v any) error {
		text, ok := v.(string)
		if !ok {
			return invalid("The argument type is not valid. The ValidateLength attribute takes strings only.")
		}
		length, _, _ := dotnet.GetMember(text, "Length")
		n, _ := length.(int32)
		if n < a.low {
			return invalid("The character length (%d) of the argument is too short. Specify an argument with a length that is greater than or equal to \"%d\", and then try the command again.", n, a.low)
		}
		if n > a.high {
			return invalid("The character length of the %d argument is too long. Shorten the character length of the argument so it is fewer than or equal to \"%d\" characters, and then try the command again.", n, a.high)
		}
		return nil
	})
}

type validateCountAttr struct{ low, high int32 }

func (a *validateCountAttr) validate(_ *frame, v any) error {
	n := int32(len(dotnet.EnumerateAny(v)))
	if n < a.low {
		return invalid("The number of provided arguments (%d) is fewer than the minimum number of allowed arguments (%d). Provide more than %d arguments, and then try the command again.", n, a.low, a.low)
	}
	if n > a.high {
		return invalid("The number of provided arguments, (%d), exceeds the maximum number of allowed arguments (%d). Provide fewer than %d arguments, and then try the command again.", n, a.high, a.high)
	}
	return nil
}

type validatePatternAttr struct{ pattern string }

func (a *validatePatternAttr) validate(_ *frame, v any) error {
	return elements(v, func(v any) error {
		ok, _, err := dotnet.Match(dotnet.ToText(v), a.pattern, false, false)
		if err != nil {
			return err
		}
		if yes, _ := ok.(bool); !yes {
			return invalid("The argument \"%s\" does not match the \"%s\" pattern. Supply an argument that matches \"%s\" and try the command again.", dotnet.ToText(v), a.pattern, a.pattern)
		}
		return nil
	})
}

type validateNotNullAttr struct{ orEmpty bool }

func (a *validateNotNullAttr) validate(_ *frame, v any) error {
	if isNull(v) {
		if a.orEmpty {
			return invalid("The argument is null or empty. Provide an argument that is not null or empty, and then try the command again.")
		}
		return invalid("The argument is null. Provide a valid value for the argument, and then try running the command again.")
	}
	if items, ok := dotnet.Enumerate(v); ok {
		if a.orEmpty && len(items) == 0 {
			return invalid("The argument is null, empty, or an element of the argument collection contains a null value. Supply a collection that does not contain any null values and then try the command again.")
		}
		for _, item := range items {
			if isNull(item) || a.orEmpty && item == "" {
				return invalid("The argument is null, empty, or an element of the argument collection contains a null value. Supply a collection that does not contain any null values and then try the command again.")
			}
		}
		return nil
	}
	if a.orEmpty && v == "" {
		return invalid("The argument is null or empty. Provide an argument that is not null or empty, and then try the command again.")
	}
	return nil
}

type validateScriptAttr struct{ block *blockCode }

func (a *validateScriptAttr) validate(f *frame, v any) error {
	return elements(v, func(v any) error {
		result, err := f.inlineValue(a.block, v)
		if err != nil {
			return err
		}
		if !dotnet.Truthy(result) {
			return invalid("The \"%s\" validation script for the argument with value \"%s\" did not return a result of True. Determine why the validation script failed, and then try the command again.",
				a.block.text(), dotnet.ToText(v))
		}
		return nil
	})
}

// validator makes the validator of an attribute.
func (c *compiler) validator(sig *signature, attr *syntax.Attribute) (validator, error) {
	args := make([]any, len(attr.Positional))
	for i, e := range attr.Positional {
		if block, ok := e.(*syntax.ScriptBlockExpr); ok && isAttribute(attr, "ValidateScript") {
			return &validateScriptAttr{block: c.scriptBlock(block.Block, nil, "")}, nil
		}
		args[i] = c.constant(sig, e)
	}
	number := func(i int) int32 {
		if i < len(args) {
			if n, ok := args[i].(int32); ok {
				return n
			}
		}
		return 0
	}
	two := len(args) == 2
	switch {
	case isAttribute(attr, "ValidateSet"):
		set := &validateSetAttr{}
		for _, arg := range args {
			set.values = append(set.values, dotnet.ToText(arg))
		}
		for _, arg := range attr.Named {
			if strings.EqualFold(arg.Name, "IgnoreCase") {
				set.exact = !dotnet.Truthy(c.constantArg(sig, arg))
			}
		}
		return set, nil
	case isAttribute(attr, "ValidateRange") && two:
		return &validateRangeAttr{args[0], args[1]}, nil
	case isAttribute(attr, "ValidateLength") && two:
		return &validateLengthAttr{number(0), number(1)}, nil
	case isAttribute(attr, "ValidateCount") && two:
		return &validateCountAttr{number(0), number(1)}, nil
	case isAttribute(attr, "ValidatePattern") && len(args) == 1:
		return &validatePatternAttr{dotnet.ToText(args[0])}, nil
	case isAttribute(attr, "ValidateNotNull"):
		return &validateNotNullAttr{}, nil
	case isAttribute(attr, "ValidateNotNullOrEmpty"):
		return &validateNotNullAttr{orEmpty: true}, nil
	}
	return nil, fail(typeNotFound(attr.Type.Name), c.place(attr))
}
