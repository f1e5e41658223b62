package audit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"math"
	"strconv"
	"strings"
)

// gap is the error of an expression that needs a value which is not there.
type gap struct {
	lacking bool   // the host does not have it; otherwise it could not be read
	why     string // in words
	mend    string
}

func (g gap) Error() string { return g.why }

// lookup gives the value of a name: a float64, string or bool, or a [gap].
type lookup func(name string) (any, error)

// eval computes an expression. && and || leave out what they need not know, so
// that a condition may ask has(x) first.
func eval(e ast.Expr, names lookup) (any, error) {
	switch e := e.(type) {
	case *ast.Ident:
		if v, ok := constantOf(e.Name); ok {
			return v, nil
		}
		return names(e.Name)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return strconv.Unquote(e.Value)
		}
		return strconv.ParseFloat(e.Value, 64)
	case *ast.ParenExpr:
		return eval(e.X, names)
	case *ast.UnaryExpr:
		return evalUnary(e, names)
	case *ast.BinaryExpr:
		return evalBinary(e, names)
	case *ast.CallExpr:
		return evalCall(e, names)
	}
	return nil, fmt.Errorf("%T has no value", e)
}

// evalBool computes a condition.
func evalBool(e ast.Expr, names lookup) (bool, error) {
	v, err := eval(e, names)
	if err != nil {
		return false, err
	}
	return truth(v)
}

// evalNumber computes a number.
func evalNumber(e ast.Expr, names lookup) (float64, error) {
	v, err := eval(e, names)
	if err != nil {
		return 0, err
	}
	return number(v)
}

func evalUnary(e *ast.UnaryExpr, names lookup) (any, error) {
	if e.Op == token.NOT {
		v, err := evalBool(e.X, names)
		return !v, err
	}
	v, err := evalNumber(e.X, names)
	return -v, err
}

func evalBinary(e *ast.BinaryExpr, names lookup) (any, error) {
	switch e.Op {
	case token.LAND, token.LOR:
		left, err := evalBool(e.X, names)
		if err != nil || left == (e.Op == token.LOR) {
			return left, err
		}
		return evalBool(e.Y, names)
	case token.EQL, token.NEQ:
		left, err := eval(e.X, names)
		if err != nil {
			return nil, err
		}
		right, err := eval(e.Y, names)
		return same(left, right) == (e.Op == token.EQL), err
	}
	left, err := evalNumber(e.X, names)
	if err != nil {
		return nil, err
	}
	right, err := evalNumber(e.Y, names)
	if err != nil {
		return nil, err
	}
	return arithmetic(e.Op, left, right)
}

func arithmetic(op token.Token, left, right float64) (any, error) {
	switch op {
	case token.ADD:
		return left + right, nil
	case token.SUB:
		return left - right, nil
	case token.MUL:
		return left * right, nil
	case token.QUO:
		if right == 0 {
			return nil, errors.New("division by zero")
		}
		return left / right, nil
	case token.LSS:
		return left < right, nil
	case token.LEQ:
		return left <= right, nil
	case token.GTR:
		return left > right, nil
	case token.GEQ:
		return left >= right, nil
	}
	return nil, fmt.Errorf("%s has no meaning here", op)
}

func evalCall(e *ast.CallExpr, names lookup) (any, error) {
	name := e.Fun.(*ast.Ident).Name
	if isPresence(name) {
		there, err := present(e.Args[0], names)
		return there == (name == "has"), err
	}
	if name == "pick" {
		first, err := evalBool(e.Args[0], names)
		if err != nil {
			return nil, err
		}
		if first {
			return eval(e.Args[1], names)
		}
		return eval(e.Args[2], names)
	}
	args := make([]any, len(e.Args))
	for i, a := range e.Args {
		var err error
		if args[i], err = eval(a, names); err != nil {
			return nil, err
		}
	}
	v, err := functions()[name].call(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// present reports whether a name has a value. One that could not be read is
// neither there nor not.
func present(e ast.Expr, names lookup) (bool, error) {
	_, err := eval(e, names)
	if g, ok := errors.AsType[gap](err); ok && g.lacking {
		return false, nil
	}
	return err == nil, err
}

// number takes a number, or a text that is one.
func number(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, fmt.Errorf("%.40q is not a number", v)
		}
		return f, nil
	}
	return 0, fmt.Errorf("%v is not a number", v)
}

// truth takes a truth value, or a text that is one.
func truth(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	}
	return false, fmt.Errorf("%.40q is neither true nor false", fmt.Sprint(v))
}

// same compares as numbers or truth values where both are, else as texts.
func same(a, b any) bool {
	if x, err := number(a); err == nil {
		y, err := number(b)
		return err == nil && x == y
	}
	if x, err := truth(a); err == nil {
		y, err := truth(b)
		return err == nil && x == y
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}
