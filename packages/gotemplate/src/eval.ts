// Compiles pipelines to closures: the content of an action becomes functions of a run and a dot.
import { fail } from './errors.ts'
import { type FunctionEntry, type FunctionTable, countProblem, parameterType } from './funcs.ts'
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
import { Named, type ParameterType, type Value, entry, typeName } from './value.ts'

/** Evaluates an expression for a dot. */
export type Evaluate = (run: Run, dot: Value) => Value
/** A stage of a pipeline. `final` is the value of the previous stage. */
type Stage = (run: Run, dot: Value, final: Value) => Value
/** Evaluates an argument as the required type. */
type Argument = (run: Run, dot: Value, type: ParameterType) => Value

/**
 * Compiles the pipeline of a statement. Its evaluation also sets the variables. The value may be null, which is a nil
 * interface. A nil interface that becomes the dot turns into no value.
 */
export function compileStatement(pipe: PipeNode, functions: FunctionTable): Evaluate {
  const evaluate = compileStages(pipe, functions)
  const { variables, assigns } = pipe
  if (variables.length === 0) return evaluate
  return (run, dot) => {
    const value = evaluate(run, dot) ?? undefined
    for (const { name, number } of variables) {
      if (assigns) run.values[run.indexOfVariable(number, name)] = value
      else run.declare(number, value)
    }
    return value
  }
}

/** Compiles a pipeline in parentheses. A nil interface becomes no value there. */
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

/** `before` is the command whose value the stage receives, or null for the first stage. */
function compileStage(command: Command, before: Command | null, functions: FunctionTable): Stage {
  const { head, args } = command
  if (head.kind === 'function') return compileCall(command as Call, before, functions)
  if (args.length === 0 && before === null) {
    if (head.kind === 'nil') return () => fail('nil is not a command', head.position)
    return compileValue(head, functions)
  }
  if ('names' in head && head.names.length > 0)
    return compileMethodCall(head, args, before !== null, functions)
  return () => fail('a value that is not a function has arguments', head.position)
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
      return (run, dot) => follow(run, base(run, dot), names, position)
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
  if (names.length > 1) return (run, dot) => follow(run, dot, names, position)
  const name = names[0] as string
  return (run, dot) => readField(run, dot, name, position)
}

function compileVariable({ name, number, names, position }: VariableNode): Evaluate {
  if (names.length === 0) return (run) => run.values[run.indexOfVariable(number, name)]
  return (run) => follow(run, run.values[run.indexOfVariable(number, name)], names, position)
}

function compileLiteral(literal: Literal): Evaluate {
  switch (literal.kind) {
    case 'bool':
      return () => literal.value
    case 'string':
      return () => literal.text
    case 'number': {
      const value = idealConstant(literal)
      return value === null ? () => fail(`${literal.text} overflows int`, literal.position) : () => value
    }
  }
}

/** The value of a number where no type is required, or null if it fits no type. */
const idealConstant = (number: NumberNode): Value => (number.isFloat ? number.float : number.int)

/** Returns the value at the end of a chain of fields. */
export function follow(run: Run, start: Value, names: readonly string[], position: number): Value {
  let value = start
  for (let i = 0; i < names.length; i++) value = readField(run, value, names[i] as string, position)
  return value
}

/** Reads a field of a value: an entry of a map, or a method without parameters. */
function readField(run: Run, receiver: Value, name: string, position: number): Value {
  if (receiver === undefined) return run.handleMissingKey('nil data; no entry', name, position)
  if (typeof receiver !== 'object' || receiver === null || Array.isArray(receiver))
    return noField(receiver, name, position)
  if (receiver instanceof Named) return callMethod(run, receiver, { name, position }, [])
  run.position = position
  const value = entry(receiver as Exclude<typeof receiver, readonly unknown[]>, name)
  return value === undefined ? run.handleMissingKey('map has no entry', name, position) : value
}

function noField(receiver: Value, name: string, position: number): never {
  if (receiver === null) return fail(`nil pointer evaluating interface {}.${name}`, position)
  return fail(`can't evaluate field ${name} in type ${typeName(receiver)}`, position)
}

/** Compiles a field with arguments. Only a method accepts them. */
function compileMethodCall(
  node: FieldNode | VariableNode | ChainNode,
  args: readonly Operand[],
  piped: boolean,
  functions: FunctionTable,
): Stage {
  const given = args.map((operand) => compileArgument(operand, functions))
  const last = node.names.length - 1
  const receiver = compileReceiver(node, last, functions)
  const site = { name: node.names[last] ?? '', position: node.position }
  return (run, dot, final) => {
    const value = receiver(run, dot)
    if (value === undefined) return run.handleMissingKey('nil data; no entry', site.name, site.position)
    if (value instanceof Named) {
      const values = given.map(
        (argument): Deferred =>
          (type) =>
            argument(run, dot, type),
      )
      if (piped) values.push((type) => checkType(final, type, site.position))
      return callMethod(run, value, site, values)
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return noField(value, site.name, site.position)
    return fail(`${site.name} is not a method but has arguments`, site.position)
  }
}

/** The receiver: everything before the last name of the node. */
function compileReceiver(
  node: FieldNode | VariableNode | ChainNode,
  last: number,
  functions: FunctionTable,
): Evaluate {
  const names = node.names.slice(0, last)
  if (node.kind !== 'field') return compileValue({ ...node, names }, functions)
  return (run, dot) => follow(run, dot, names, node.position)
}

/** An argument that is evaluated once its type is known. */
type Deferred = (type: ParameterType) => Value

function callMethod(run: Run, receiver: Named, site: CallSite, given: readonly Deferred[]): Value {
  const method = receiver.methods.get(site.name)
  if (method === undefined) return noField(receiver, site.name, site.position)
  const { parameters } = method
  if (parameters.length !== given.length)
    return fail(
      `wrong number of args for ${site.name}: want ${parameters.length} got ${given.length}`,
      site.position,
    )
  const values = given.map((argument, index) => argument(parameters[index] ?? 'any'))
  run.site = site
  // The only text that a method accepts is a layout, and parsing a layout examines each character many times.
  for (const value of values) if (typeof value === 'string') run.step(value.length >> 4)
  const result = method.call(receiver as never, values)
  if (typeof result === 'string') run.build(result.length)
  run.site = null
  return result
}

type Call = Command & { readonly head: FunctionNode }

function compileCall(call: Call, before: Command | null, functions: FunctionTable): Stage {
  const { name, position } = call.head
  const entry = functions.get(name)
  if (entry === undefined) return fail(`function "${name}" not defined`, position)
  const given = call.args.map((operand) => compileArgument(operand, functions))
  const problem = countProblem(entry, given.length + (before === null ? 0 : 1))
  if (problem !== null) return () => fail(`wrong number of args for ${name}: ${problem}`, position)
  if (entry.shortCircuit !== undefined) return compileShortCircuit(given, before !== null, entry.shortCircuit)
  return compilePlainCall(entry, call, before, given)
}

function compilePlainCall(
  entry: FunctionEntry,
  call: Call,
  before: Command | null,
  given: readonly Argument[],
): Stage {
  const { position } = call.head
  const site = { name: entry.name, position }
  const count = given.length
  const types = [...given, null].map((_, index) => parameterType(entry, index))
  const finalType = types[count] ?? 'any'
  return (run, dot, final) => {
    const values: Value[] = []
    for (let i = 0; i < count; i++) {
      const value = (given[i] as Argument)(run, dot, types[i] as ParameterType)
      // Only the type `any` turns no value into null.
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
function compileShortCircuit(given: readonly Argument[], piped: boolean, deciding: boolean): Stage {
  return (run, dot, final) => {
    let value: Value
    for (const argument of given) {
      value = argument(run, dot, 'value')
      if (run.truth(value) === deciding) return value
    }
    return piped ? final : value
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

/** A constant converts to the required type if possible. */
function compileLiteralArgument(literal: Literal): Argument {
  const plain = compileLiteral(literal)
  return (run, dot, type) => {
    switch (type) {
      case 'any':
      case 'value':
        return plain(run, dot)
      case 'string':
        return literal.kind === 'string' ? literal.text : expected('string', literal)
      case 'bool':
        return literal.kind === 'bool' ? literal.value : expected('bool', literal)
      case 'int':
        return literal.kind === 'number' && literal.int !== null ? literal.int : expected('integer', literal)
      case 'float64':
        return literal.kind === 'number' ? literal.float : expected('float', literal)
    }
  }
}

function expected(what: string, literal: Literal): never {
  const found = literal.kind === 'bool' ? String(literal.value) : literal.text
  return fail(`expected ${what}; found ${found}`, literal.position)
}

const typeofNames: Readonly<Record<Exclude<ParameterType, 'any' | 'value'>, string>> = {
  string: 'string',
  int: 'bigint',
  float64: 'number',
  bool: 'boolean',
}

/** Returns the value if it has the required type, and fails otherwise. Nothing is converted. */
function checkType(value: Value, type: ParameterType, position: number): Value {
  if (type === 'value') return value
  if (type === 'any') return value === undefined ? null : value
  if (typeof value === typeofNames[type]) return value
  if (value === undefined) return fail(`invalid value; expected ${type}`, position)
  return fail(`wrong type for value; expected ${type}; got ${typeName(value)}`, position)
}
