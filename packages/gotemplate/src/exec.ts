// Statements as closures. A statement answers how the list it stands in goes on, so break and continue need no
// exceptions.
import { fail } from './errors.ts'
import { compilePipe } from './eval.ts'
import { type FunctionTable } from './funcs.ts'
import {
  type ActionNode,
  type ConditionNode,
  type Definition,
  type ListNode,
  type RangeNode,
  type Statement,
  type TemplateNode,
} from './node.ts'
import { type Definitions } from './parse.ts'
import { printTo } from './print.ts'
import { type Run } from './run.ts'
import { Int, type Value, element, entry, isList, isMap, typeName } from './value.ts'

const ON = 0
const BREAK = 1
const CONTINUE = 2
type Flow = typeof ON | typeof BREAK | typeof CONTINUE

type Execute = (run: Run, dot: Value) => Flow

interface Compiled {
  readonly execute: Execute
  readonly levels: number
}

/** The templates of a source, each compiled when it is first executed. */
export class Program {
  readonly #definitions: Definitions
  readonly #functions: FunctionTable
  readonly #compiled = new Map<string, Compiled>()

  constructor(definitions: Definitions, functions: FunctionTable) {
    this.#definitions = definitions
    this.#functions = functions
  }

  /** Executes a template with this dot and no variables but `$`. */
  execute(name: string, run: Run, dot: Value): void {
    const template = this.#compiled.get(name) ?? this.#compile(name)
    if (template === null) return fail(`template "${name}" not defined`)
    run.open(template.levels)
    const { base, top } = run
    run.base = top
    run.declare(0, dot)
    template.execute(run, dot)
    run.base = base
    run.top = top
    run.close(template.levels)
  }

  /** Whether there is a template of this name. */
  has(name: string): boolean {
    return this.#definitions.has(name)
  }

  #compile(name: string): Compiled | null {
    const definition: Definition | undefined = this.#definitions.get(name)
    if (definition === undefined) return null
    const compiled = { execute: this.#list(definition.list), levels: definition.levels }
    this.#compiled.set(name, compiled)
    return compiled
  }

  #list(list: ListNode): Execute {
    const statements = list.map((statement) => this.#statement(statement))
    const cost = list.reduce((sum, statement) => sum + costOf(statement), 1)
    const count = statements.length
    return (run, dot) => {
      run.step(cost)
      for (let i = 0; i < count; i++) {
        const flow = (statements[i] as Execute)(run, dot)
        if (flow !== ON) return flow
      }
      return ON
    }
  }

  #statement(statement: Statement): Execute {
    switch (statement.kind) {
      case 'text': {
        const { text } = statement
        return (run) => {
          run.write(text)
          return ON
        }
      }
      case 'action':
        return this.#action(statement)
      case 'if':
      case 'with':
        return this.#condition(statement)
      case 'range':
        return this.#range(statement)
      case 'template':
        return this.#template(statement)
      case 'break':
        return () => BREAK
      case 'continue':
        return () => CONTINUE
    }
  }

  #action({ pipe, position }: ActionNode): Execute {
    const evaluate = compilePipe(pipe, this.#functions)
    if (pipe.variables.length > 0)
      return (run, dot) => {
        run.position = position
        evaluate(run, dot)
        return ON
      }
    return (run, dot) => {
      run.position = position
      const value = evaluate(run, dot)
      if (typeof value === 'string') run.write(value)
      else {
        run.position = position
        printTo(run, value)
      }
      return ON
    }
  }

  #condition(node: ConditionNode): Execute {
    const isWith = node.kind === 'with'
    const branches = node.branches.map(({ pipe, list }) => ({
      position: pipe.position,
      condition: compilePipe(pipe, this.#functions),
      execute: this.#list(list),
    }))
    const otherwise = node.otherwise === null ? null : this.#list(node.otherwise)
    return (run, dot) => {
      const { top } = run
      let flow: Flow = ON
      let chosen = otherwise
      let inner = dot
      for (const branch of branches) {
        run.position = branch.position
        const value = branch.condition(run, dot)
        if (run.truth(value)) {
          chosen = branch.execute
          if (isWith) inner = value
          break
        }
      }
      if (chosen !== null) flow = chosen(run, inner)
      run.top = top
      return flow
    }
  }

  #template({ name, pipe, position }: TemplateNode): Execute {
    const evaluate = pipe === null ? (): Value => undefined : compilePipe(pipe, this.#functions)
    return (run, dot) => {
      run.position = position
      if (!this.has(name)) fail(`template "${name}" not defined`, position)
      const inner = evaluate(run, dot)
      run.position = position
      this.execute(name, run, inner)
      return ON
    }
  }

  #range(node: RangeNode): Execute {
    const source = compilePipe(node.pipe, this.#functions)
    const body = this.#list(node.list)
    const otherwise = node.otherwise === null ? null : this.#list(node.otherwise)
    return (run, dot) => {
      const { top } = run
      run.position = node.position
      const value = source(run, dot)
      run.position = node.position
      const loop = new Loop(run, node, body)
      const flow = !loop.over(value) && otherwise !== null ? otherwise(run, dot) : ON
      run.top = top
      // As in Go, a break inside this else ends this range, and a continue goes on with the loop around it.
      return flow === CONTINUE ? CONTINUE : ON
    }
  }
}

/** What a statement costs by itself each time the list it stands in is executed. */
function costOf(statement: Statement): number {
  switch (statement.kind) {
    case 'action':
    case 'range':
      return 1 + statement.pipe.weight
    case 'template':
      return 1 + (statement.pipe?.weight ?? 0)
    case 'if':
    case 'with':
      return statement.branches.reduce((sum, { pipe }) => sum + pipe.weight, 1)
    case 'text':
    case 'break':
    case 'continue':
      return 1
  }
}

/** The passes of one range statement. */
class Loop {
  readonly #run: Run
  readonly #node: RangeNode
  readonly #body: Execute
  /** The variables of the range stand right below this place. */
  readonly #top: number
  readonly #variables: number

  constructor(run: Run, node: RangeNode, body: Execute) {
    this.#run = run
    this.#node = node
    this.#body = body
    this.#top = run.top
    this.#variables = node.pipe.variables.length
  }

  /** Runs the body for each element; answers whether there was one. */
  over(value: Value): boolean {
    if (isList(value)) return this.#overList(value)
    if (typeof value === 'bigint') return this.#overInteger(value, (index) => index)
    if (value instanceof Int) return this.#overInteger(value.value, (index) => new Int(value.type, index))
    if (isMap(value)) return this.#overMap(value)
    if (value === undefined) return false
    return fail(`range can't iterate over a value of type ${typeName(value)}`, this.#node.position)
  }

  #overList(list: readonly unknown[]): boolean {
    const { length } = list
    for (let i = 0; i < length; i++) {
      if (!this.#pass(this.#variables > 1 ? BigInt(i) : undefined, element(list, i))) break
    }
    return length > 0
  }

  #overMap(map: Exclude<Value & object, readonly unknown[]> & Parameters<Run['keys']>[0]): boolean {
    const keys = this.#run.keys(map)
    for (const key of keys) if (!this.#pass(key, entry(map, key))) break
    return keys.length > 0
  }

  #overInteger(count: bigint, toElement: (index: bigint) => Value): boolean {
    if (this.#variables > 1)
      fail(`can't use ${count} to iterate over more than one variable`, this.#node.position)
    for (let i = 0n; i < count; i++) if (!this.#pass(undefined, toElement(i))) break
    return count > 0n
  }

  /** One pass; answers whether the loop goes on. */
  #pass(index: Value, value: Value): boolean {
    if (this.#variables > 0) this.#setVariables(index, value)
    const flow = this.#body(this.#run, value)
    this.#run.top = this.#top
    return flow !== BREAK
  }

  #setVariables(index: Value, value: Value): void {
    const run = this.#run
    const last = this.#variables - 1
    if (!this.#node.pipe.assigns) {
      run.values[this.#top - 1] = value
      if (last > 0) run.values[this.#top - 2] = index
      return
    }
    this.#node.pipe.variables.forEach(({ name, number }, place) => {
      run.values[run.place(number, name)] = place === last ? value : index
    })
  }
}
