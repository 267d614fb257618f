// Compiles statements to closures. A template is compiled when it is first executed.
import { fail } from './errors.ts'
import { compileStatement, followFields } from './eval.ts'
import { type FunctionTable } from './funcs.ts'
import { BREAK, type Block, CONTINUE, type Execute, type Flow, Loop, NEXT, executeBlock } from './loop.ts'
import {
  type ConditionNode,
  type Definition,
  type ListNode,
  type PipeNode,
  type RangeNode,
  type Statement,
  type TemplateNode,
} from './node.ts'
import { type Definitions } from './parse.ts'
import { printTo } from './print.ts'
import { type Run } from './run.ts'
import { type Value } from './value.ts'

interface CompiledTemplate {
  readonly block: Block
  readonly levels: number
}

/** The templates of a source, each compiled when it is first executed. */
export class Program {
  readonly #definitions: Definitions
  readonly #functions: FunctionTable
  readonly #compiledTemplates = new Map<string, CompiledTemplate>()

  constructor(definitions: Definitions, functions: FunctionTable) {
    this.#definitions = definitions
    this.#functions = functions
  }

  /** Executes a template with this dot. Its only variable is `$`. */
  execute(name: string, run: Run, dot: Value): void {
    const template = this.#compiledTemplates.get(name) ?? this.#compile(name)
    if (template === null) return fail(`template "${name}" not defined`)
    run.open(template.levels)
    const { base, top } = run
    run.base = top
    run.declare(0, dot)
    executeBlock(template.block, run, dot)
    run.base = base
    run.top = top
    run.close(template.levels)
  }

  has(name: string): boolean {
    return this.#definitions.has(name)
  }

  #compile(name: string): CompiledTemplate | null {
    const definition: Definition | undefined = this.#definitions.get(name)
    if (definition === undefined) return null
    const compiledTemplate = { block: this.#compileBlock(definition.list), levels: definition.levels }
    this.#compiledTemplates.set(name, compiledTemplate)
    return compiledTemplate
  }

  #compileBlock({ statements: list, weight }: ListNode): Block {
    const [first] = list
    // Most lists contain a single statement, whose closure needs no loop.
    if (list.length === 1 && first !== undefined) return { execute: this.#statement(first), weight }
    const statements = list.map((statement) => this.#statement(statement))
    const execute: Execute = (run, dot) => {
      for (let i = 0; i < statements.length; i++) {
        const flow = (statements[i] as Execute)(run, dot)
        if (flow !== NEXT) return flow
      }
      return NEXT
    }
    return { execute, weight }
  }

  #statement(statement: Statement): Execute {
    switch (statement.kind) {
      case 'pipe':
        return this.#compileAction(statement)
      case 'text': {
        const { text } = statement
        return (run) => {
          run.write(text)
          return NEXT
        }
      }
      case 'if':
      case 'with':
        return this.#compileCondition(statement)
      case 'range':
        return this.#compileRange(statement)
      case 'template':
        return this.#compileTemplate(statement)
      case 'break':
        return () => BREAK
      case 'continue':
        return () => CONTINUE
    }
  }

  /** Compiles an action together with the text before it, because one closure is faster than two. */
  #compileAction(pipe: PipeNode): Execute {
    const { before, position, variables } = pipe
    const { head, args } = pipe.first
    if (head.kind === 'field' && args.length === 0 && pipe.rest.length === 0 && variables.length === 0) {
      // Most actions print a field, which needs no compiled pipeline.
      const { names } = head
      return (run, dot) => {
        run.write(before)
        return print(run, dot, followFields(run, dot, names, position), pipe)
      }
    }
    const evaluate = compileStatement(pipe, this.#functions)
    const isPrinted = variables.length === 0
    return (run, dot) => {
      run.write(before)
      run.position = position
      const value = evaluate(run, dot)
      return isPrinted ? print(run, dot, value, pipe) : NEXT
    }
  }

  #compileCondition(node: ConditionNode): Execute {
    const isWith = node.kind === 'with'
    const branches = node.branches.map(({ pipe, list }) => ({
      position: pipe.position,
      condition: compileStatement(pipe, this.#functions),
      block: this.#compileBlock(list),
    }))
    const elseBlock = node.elseList === null ? null : this.#compileBlock(node.elseList)
    return (run, dot) => {
      const { top } = run
      let selectedBlock = elseBlock
      let innerDot = dot
      for (let i = 0; i < branches.length; i++) {
        const { position, condition, block } = branches[i] as (typeof branches)[number]
        run.position = position
        const value = condition(run, dot)
        if (!run.isTruthy(value)) continue
        selectedBlock = block
        if (isWith) innerDot = value ?? undefined
        break
      }
      const flow = selectedBlock === null ? NEXT : executeBlock(selectedBlock, run, innerDot)
      run.top = top
      return flow
    }
  }

  #compileTemplate({ name, pipe, position }: TemplateNode): Execute {
    const evaluate = pipe === null ? (): Value => undefined : compileStatement(pipe, this.#functions)
    return (run, dot) => {
      run.position = position
      if (!this.has(name)) fail(`template "${name}" not defined`, position)
      const innerDot = evaluate(run, dot) ?? undefined
      run.position = position
      this.execute(name, run, innerDot)
      return NEXT
    }
  }

  #compileRange(node: RangeNode): Execute {
    const evaluateSource = compileStatement(node.pipe, this.#functions)
    const loop = new Loop(node, this.#compileBlock(node.list))
    const elseBlock = node.elseList === null ? null : this.#compileBlock(node.elseList)
    return (run, dot) => {
      const { top } = run
      run.position = node.position
      const value = evaluateSource(run, dot) ?? undefined
      run.position = node.position
      const flow =
        !loop.iterateOver(value, run) && elseBlock !== null ? executeBlock(elseBlock, run, dot) : NEXT
      run.top = top
      // As in Go, a break inside this else block ends this range, but a continue applies to the enclosing loop.
      return flow === CONTINUE ? CONTINUE : NEXT
    }
  }
}

function print(run: Run, dot: Value, value: Value, pipe: PipeNode): Flow {
  if (typeof value === 'string') run.write(value)
  else {
    run.position = pipe.position
    if ((value === undefined || value === null) && run.watch !== null) run.watch.onWritten(run, dot, pipe)
    printTo(run, value)
  }
  return NEXT
}
