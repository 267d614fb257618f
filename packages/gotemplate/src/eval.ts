// Compiles pipelines to closures: the content of an action becomes functions of a run and a dot.
import { fail } from './errors.ts'
import {
  type FunctionEntry,
  type FunctionTable,
  findArgumentCountProblem,
  getParameterType,
} from './funcs.ts'
import {
  type ChainNode,
  type Command,
  type FieldNode,
  type FunctionNode,
  type Literal,
  type NumberNode,
  type Operand,
  type PipeNode,
  type VariableNode,
} from './node.ts'
import { type CallSite, type Run } from './run.ts'
import { Named, type ParameterType, type Value, getEntry, getTypeName } from './value.ts'

/** Evaluates an expression for a dot. */
export type Evaluate = (run: Run, dot: Value) => Value
/** A stage of a pipeline. `final` is the value of the previous stage. */
type Stage = (run: Run, dot: Value, final: Value) => Value
/** Evaluates an argument as the required type. */
type Argument = (run: Run, dot: Value, type: ParameterType) => Value

/**
 * Compiles the pipeline of a statement. Evaluating the pipeline also sets its variables. A null result represents
 * a nil interface. Callers that use the result as the dot must convert null to undefined, which represents "no
 * value".
 */
export function compileStatement(pipe: PipeNode, functions: FunctionTable): Evaluate {
  const evaluate = compileStages(pipe, functions)
  const { variables, assigns } = pipe
  if (variables.length === 0) return evaluate
  return (run, dot) => {
    const value = evaluate(run, dot) ?? undefined
    for (const { name, number } of variables) {
      if (assigns) run.values[run.findVariableIndex(number, name)] = value
      else run.declare(number, value)
    }
    return value
  }
}

/** Compiles a pipeline in parentheses. As in Go, a missing result is "no value", not a nil interface. */
function compileParenthesis(pipe: PipeNode, functions: FunctionTable): Evaluate {
  const evaluate = compileStatement(pipe, functions)
  return (run, dot) => evaluate(run, dot) ?? undefined
}

function compileStages(pipe: PipeNode, functions: FunctionTable): Evaluate {
  const first = compileStage(pipe.first, null, functions)
  if (pipe.rest.length === 0) return first as Evaluate
  const rest = pipe.rest.map((command, index) =>
    compileStage(command, pipe.rest[index - 1] ?? pipe.first, functions),
  )
  return (run, dot) => {
    let value = first(run, dot, undefined)
    for (const stage of rest) value = stage(run, dot, value ?? undefined)
    return value
  }
}

/**
 * Compiles one stage. `before` is the previous command, which provides the final argument, or null for the
 * first stage.
 */
function compileStage(command: Command, before: Command | null, functions: FunctionTable): Stage {
  const { head, args } = command
  if (head.kind === 'function') return compileCall(command as Call, before, functions)
  if (args.length === 0 && before === null) {
    if (head.kind === 'nil') return () => fail('nil is not a command', head.position)
    return compileValue(head, functions)
  }
  if ('names' in head && head.names.length > 0)
    return compileMethodCall(head, args, before !== null, functions)
  return () => fail('cannot pass arguments to a value that is not a function', head.position)
}

/** Compiles an operand that is evaluated without arguments. */
function compileValue(operand: Operand, functions: FunctionTable): Evaluate {
  switch (operand.kind) {
    case 'dot':
      return (_run, dot) => dot
    case 'field':
      return compileField(operand)
    case 'variable':
      return compileVariable(operand)
    case 'chain': {
      const base = compileValue(operand.base, functions)
      const { names, position } = operand
      return (run, dot) => followFields(run, base(run, dot), names, position)
    }
    case 'function':
      return compileCall({ head: operand, args: [] }, null, functions) as Evaluate
    case 'pipe':
      return compileParenthesis(operand, functions)
    case 'nil':
      return () => undefined
    case 'bool':
    case 'string':
    case 'number':
      return compileLiteral(operand)
  }
}

function compileField({ names, position }: FieldNode): Evaluate {
  if (names.length > 1) return (run, dot) => followFields(run, dot, names, position)
  const name = names[0] as string
  return (run, dot) => readField(run, dot, name, position)
}

function compileVariable({ name, number, names, position }: VariableNode): Evaluate {
  if (names.length === 0) return (run) => run.values[run.findVariableIndex(number, name)]
  return (run) => followFields(run, run.values[run.findVariableIndex(number, name)], names, position)
}

function compileLiteral(literal: Literal): Evaluate {
  switch (literal.kind) {
    case 'bool':
      return () => literal.value
    case 'string':
      return () => literal.text
    case 'number': {
      const value = getIdealConstant(literal)
      return value === null ? () => fail(`${literal.text} overflows int`, literal.position) : () => value
    }
  }
}

/** Returns the value of a number where no type is required, or null if no type can represent it. */
const getIdealConstant = (number: NumberNode): Value => (number.isFloat ? number.float : number.int)

/** Follows a chain of fields from a start value and returns the last value. */
export function followFields(run: Run, start: Value, names: readonly string[], position: number): Value {
  let value = start
  for (let i = 0; i < names.length; i++) value = readField(run, value, names[i] as string, position)
  return value
}

/** Reads a field of a value: an entry of a map, or a method without parameters. */
function readField(run: Run, receiver: Value, name: string, position: number): Value {
  if (receiver === undefined) return run.handleMissingKey('nil data; no entry', name, position)
  if (typeof receiver !== 'object' || receiver === null || Array.isArray(receiver))
    return failNoField(receiver, name, position)
  if (receiver instanceof Named) return callMethod(run, receiver, { name, position }, [])
  run.position = position
  const value = getEntry(receiver as Exclude<typeof receiver, readonly unknown[]>, name)
  return value === undefined ? run.handleMissingKey('map has no entry', name, position) : value
}

function failNoField(receiver: Value, name: string, position: number): never {
  if (receiver === null) return fail(`nil pointer evaluating interface {}.${name}`, position)
  return fail(`can't evaluate field ${name} in type ${getTypeName(receiver)}`, position)
}

/** Compiles a field with arguments. Only a method accepts them. */
function compileMethodCall(
  node: FieldNode | VariableNode | ChainNode,
  args: readonly Operand[],
  isPiped: boolean,
  functions: FunctionTable,
): Stage {
  const compiledArgs = args.map((operand) => compileArgument(operand, functions))
  const lastIndex = node.names.length - 1
  const receiver = compileReceiver(node, lastIndex, functions)
  const site = { name: node.names[lastIndex] ?? '', position: node.position }
  return (run, dot, final) => {
    const value = receiver(run, dot)
    if (value === undefined) return run.handleMissingKey('nil data; no entry', site.name, site.position)
    if (value instanceof Named) {
      const values = compiledArgs.map(
        (argument): DeferredArgument =>
          (type) =>
            argument(run, dot, type),
      )
      if (isPiped) values.push((type) => checkType(final, type, site.position))
      return callMethod(run, value, site, values)
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return failNoField(value, site.name, site.position)
    return fail(`${site.name} is not a method but has arguments`, site.position)
  }
}

/** Compiles the receiver of a method call: the node without its last name. */
function compileReceiver(
  node: FieldNode | VariableNode | ChainNode,
  last: number,
  functions: FunctionTable,
): Evaluate {
  const names = node.names.slice(0, last)
  if (node.kind !== 'field') return compileValue({ ...node, names }, functions)
  return (run, dot) => followFields(run, dot, names, node.position)
}

/** An argument that is evaluated as soon as its type is known. */
type DeferredArgument = (type: ParameterType) => Value

function callMethod(run: Run, receiver: Named, site: CallSite, args: readonly DeferredArgument[]): Value {
  const method = receiver.methods.get(site.name)
  if (method === undefined) return failNoField(receiver, site.name, site.position)
  const { parameters } = method
  if (parameters.length !== args.length)
    return fail(
      `wrong number of args for ${site.name}: want ${parameters.length} got ${args.length}`,
      site.position,
    )
  const values = args.map((argument, index) => argument(parameters[index] ?? 'any'))
  run.site = site
  // The only text argument of a method is a time layout. Parsing a layout examines each character several times.
  for (const value of values) if (typeof value === 'string') run.chargeSteps(value.length >> 4)
  const result = method.call(receiver as never, values)
  if (typeof result === 'string') run.chargeBuild(result.length)
  run.site = null
  return result
}

type Call = Command & { readonly head: FunctionNode }

function compileCall(call: Call, before: Command | null, functions: FunctionTable): Stage {
  const { name, position } = call.head
  const entry = functions.get(name)
  if (entry === undefined) return fail(`function "${name}" not defined`, position)
  const compiledArgs = call.args.map((operand) => compileArgument(operand, functions))
  const problem = findArgumentCountProblem(entry, compiledArgs.length + (before === null ? 0 : 1))
  if (problem !== null) return () => fail(`wrong number of args for ${name}: ${problem}`, position)
  if (entry.shortCircuit !== undefined)
    return compileShortCircuit(compiledArgs, before !== null, entry.shortCircuit)
  return compilePlainCall(entry, call, before, compiledArgs)
}

function compilePlainCall(
  entry: FunctionEntry,
  call: Call,
  before: Command | null,
  compiledArgs: readonly Argument[],
): Stage {
  const { position } = call.head
  const site = { name: entry.name, position }
  const count = compiledArgs.length
  const types = [...compiledArgs, null].map((_, index) => getParameterType(entry, index))
  const finalType = types[count] ?? 'any'
  return (run, dot, final) => {
    const values: Value[] = []
    for (let i = 0; i < count; i++) {
      const value = (compiledArgs[i] as Argument)(run, dot, types[i] as ParameterType)
      // A missing value becomes null only for a parameter of type `any`.
      if (value === null && run.watch !== null)
        run.watch.onPassed(run, dot, call.args[i] as Operand, entry.name)
      values.push(value)
    }
    if (before !== null) {
      if (final === undefined && finalType === 'any' && run.watch !== null && before.args.length === 0)
        run.watch.onPassed(run, dot, before.head, entry.name)
      values.push(checkType(final, finalType, position))
    }
    run.site = site
    const result = entry.call(values, run)
    run.site = null
    return result
  }
}

/** Compiles `and` and `or`, which stop at the first argument that decides the result. */
function compileShortCircuit(
  compiledArgs: readonly Argument[],
  isPiped: boolean,
  decidingValue: boolean,
): Stage {
  return (run, dot, final) => {
    let value: Value
    for (const argument of compiledArgs) {
      value = argument(run, dot, 'value')
      if (run.isTruthy(value) === decidingValue) return value
    }
    return isPiped ? final : value
  }
}

function compileArgument(operand: Operand, functions: FunctionTable): Argument {
  const { kind, position } = operand
  if (kind === 'bool' || kind === 'string' || kind === 'number') return compileLiteralArgument(operand)
  if (kind === 'nil')
    return (_run, _dot, type) => {
      if (type === 'any') return null
      return type === 'value' ? undefined : fail(`cannot assign nil to ${type}`, position)
    }
  const evaluate = compileValue(operand, functions)
  return (run, dot, type) => checkType(evaluate(run, dot), type, position)
}

/** Compiles a constant, which is converted to the required type if possible. */
function compileLiteralArgument(literal: Literal): Argument {
  const evaluateLiteral = compileLiteral(literal)
  return (run, dot, type) => {
    switch (type) {
      case 'any':
      case 'value':
        return evaluateLiteral(run, dot)
      case 'string':
        return literal.kind === 'string' ? literal.text : failExpected('string', literal)
      case 'bool':
        return literal.kind === 'bool' ? literal.value : failExpected('bool', literal)
      case 'int':
        return literal.kind === 'number' && literal.int !== null
          ? literal.int
          : failExpected('integer', literal)
      case 'float64':
        return literal.kind === 'number' ? literal.float : failExpected('float', literal)
    }
  }
}

function failExpected(expectedType: string, literal: Literal): never {
  const literalText = literal.kind === 'bool' ? String(literal.value) : literal.text
  return fail(`expected ${expectedType}; found ${literalText}`, literal.position)
}

const typeofNames: Readonly<Record<Exclude<ParameterType, 'any' | 'value'>, string>> = {
  string: 'string',
  int: 'bigint',
  float64: 'number',
  bool: 'boolean',
}

/** Returns the value if it has the required type, and fails otherwise. Values are never converted. */
function checkType(value: Value, type: ParameterType, position: number): Value {
  if (type === 'value') return value
  if (type === 'any') return value === undefined ? null : value
  if (typeof value === typeofNames[type]) return value
  if (value === undefined) return fail(`invalid value; expected ${type}`, position)
  return fail(`wrong type for value; expected ${type}; got ${getTypeName(value)}`, position)
}
