// Parses the content of actions: pipelines, commands and operands. It also tracks scopes and enforces limits.
import { readCharacter, createCharacterConstant, readNumber, unquote } from './constants.ts'
import { Failure, fail } from './errors.ts'
import { Lexer, type TokenType } from './lex.ts'
import { type Command, type Operand, type PipeNode } from './node.ts'

/** The maximum size of a template. */
export interface Limits {
  /** In UTF-16 units. */
  readonly length: number
  /** Depth of nested blocks and parentheses. */
  readonly nesting: number
  /** Number of statements, operands and fields. */
  readonly nodes: number
}

export interface ParserOptions {
  readonly limits: Limits
  /** Fails if the function does not exist. */
  readonly checkFunction: (name: string, position: number) => void
}

/** Tracks the variables declared so far, and the loops and nesting levels around the current position. */
export class Scope {
  loops = 0
  level = 0
  deepest = 0
  /** The number of active declarations of each variable. `$` is always declared. */
  readonly #declarationCounts = new Map<string, number>()
  readonly #order: string[] = []

  declare(name: string): void {
    this.#order.push(name)
    this.#declarationCounts.set(name, (this.#declarationCounts.get(name) ?? 0) + 1)
  }

  has(name: string): boolean {
    return name === '$' || (this.#declarationCounts.get(name) ?? 0) > 0
  }

  mark(): number {
    return this.#order.length
  }

  /** Removes the variables that were declared after the mark. */
  release(mark: number): void {
    while (this.#order.length > mark) {
      const name = this.#order.pop() ?? ''
      this.#declarationCounts.set(name, (this.#declarationCounts.get(name) ?? 0) - 1)
    }
  }
}

type Variables = Pick<PipeNode, 'variables' | 'assigns'>
// Most pipelines have one command without arguments. They share an empty list to avoid allocations.
const emptyList: never[] = []
const noVariables: Variables = { variables: emptyList, assigns: false }
const plainValues: ReadonlySet<string> = new Set(['bool', 'dot', 'nil', 'number', 'string'])

/** Reads the tokens of a template and parses the content of actions. A subclass parses statements. */
export class PipelineParser {
  protected readonly token: Lexer
  protected scope = new Scope()
  /** The number of nodes since the start of the current list. */
  protected weight = 0
  readonly #options: ParserOptions
  readonly #numbers = new Map<string, number>()
  readonly #maxNodes: number
  #nodeCount = 0
  #nesting = 0

  constructor(source: string, options: ParserOptions) {
    this.token = new Lexer(source)
    this.#options = options
    this.#maxNodes = options.limits.nodes
  }

  /** Consumes a token of this type, or fails. */
  protected expect(type: TokenType, context: string): void {
    if (this.token.type !== type) this.failUnexpected(context)
    this.token.advance()
  }

  protected failUnexpected(context: string): never {
    const { type, problem, start } = this.token
    return fail(type === 'error' ? problem : `unexpected ${this.#describeToken()} in ${context}`, start)
  }

  /** Formats the current token for an error message. */
  #describeToken(): string {
    const { type, text } = this.token
    if (type === 'eof') return 'EOF'
    if (type === 'keyword') return `<${text}>`
    return JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text)
  }

  /** Counts a node against the limit. */
  protected count(): void {
    this.#nodeCount++
    this.weight++
    if (this.#nodeCount > this.#maxNodes)
      throw new Failure(`the template has more than ${this.#maxNodes} nodes`, this.token.start, 'nodes')
  }

  /** Enters a block or parenthesis. */
  protected enter(): void {
    const { nesting } = this.#options.limits
    if (++this.#nesting > nesting)
      throw new Failure(
        `the template is nested more than ${nesting} levels deep`,
        this.token.start,
        'nesting',
      )
    this.scope.deepest = Math.max(this.scope.deepest, ++this.scope.level)
  }

  protected leave(): void {
    this.#nesting--
    this.scope.level--
  }

  /** Reads declarations, then commands up to and including the token that closes the pipeline. */
  protected parsePipeline(context: string, close: 'right' | 'close', before: string): PipeNode {
    const position = this.token.start
    let declarations = noVariables
    let operand: Operand | null = null
    if (this.token.type === 'variable') ({ declarations, operand } = this.#parseVariables(context))
    if (operand === null && this.token.type === close) fail(`missing value for ${context}`, this.token.start)
    const first = this.#parseCommand(context, operand)
    const rest = this.token.type === close ? emptyList : this.#parseStages(context, close)
    this.token.advance()
    const { variables, assigns } = declarations
    return { kind: 'pipe', position, before, variables, assigns, first, rest }
  }

  /**
   * Reads the variables that receive the value. If the last one turns out to be the first operand, it is returned as
   * `operand`.
   */
  #parseVariables(context: string): { declarations: Variables; operand: Operand | null } {
    const variables: { name: string; number: number }[] = []
    for (;;) {
      const { text: name, start } = this.token
      this.token.advance()
      const { type } = this.token
      const isComma = type === 'other' && this.token.text === ','
      if (type !== 'declare' && type !== 'assign' && !isComma)
        return { declarations: { variables, assigns: false }, operand: this.#parseVariable(name, start) }
      this.token.advance()
      this.scope.declare(name)
      variables.push({ name, number: this.#getVariableNumber(name) })
      if (!isComma) return { declarations: { variables, assigns: type === 'assign' }, operand: null }
      if (context !== 'range' || variables.length > 1) fail(`too many declarations in ${context}`, start)
      if (this.token.type === 'right') return { declarations: { variables, assigns: false }, operand: null }
      if (this.token.type !== 'variable') fail('range can only initialize variables', this.token.start)
    }
  }

  #parseVariable(name: string, position: number): Operand {
    this.count()
    if (!this.scope.has(name)) fail(`undefined variable "${name}"`, position)
    const names = this.#parseFields(null)
    return { kind: 'variable', position, name, number: this.#getVariableNumber(name), names }
  }

  /** Returns the number of a variable name. `$` is 0. */
  #getVariableNumber(name: string): number {
    const existingNumber = name === '$' ? 0 : this.#numbers.get(name)
    if (existingNumber !== undefined) return existingNumber
    const number = this.#numbers.size + 1
    this.#numbers.set(name, number)
    return number
  }

  /**
   * Reads the stages after the first one. Each receives an argument, so a stage must not be a plain value.
   */
  #parseStages(context: string, close: 'right' | 'close'): Command[] {
    const commands: Command[] = []
    while (this.token.type !== close) {
      const command = this.#parseCommand(context, null)
      commands.push(command)
      if (plainValues.has(command.head.kind))
        fail(`non executable command in pipeline stage ${commands.length + 1}`, command.head.position)
    }
    return commands
  }

  /** Reads operands that are separated by spaces, up to and including a pipe, or up to the end of the pipeline. */
  #parseCommand(context: string, parsedHead: Operand | null): Command {
    const head = parsedHead ?? this.#parseOperand() ?? this.failUnexpected(context)
    let args: Operand[] = emptyList
    for (;;) {
      const { type, hasSpaceBefore: isSpaced } = this.token
      if (type === 'right' || type === 'close') break
      if (type === 'pipe') {
        this.token.advance()
        break
      }
      const operand = (isSpaced ? this.#parseOperand() : null) ?? this.failUnexpected('operand')
      if (args === emptyList) args = [operand]
      else args.push(operand)
    }
    return { head, args }
  }

  /** Reads an operand and the fields that follow it. Returns null if there is no operand. */
  #parseOperand(): Operand | null {
    const { type, start: position } = this.token
    if (type === 'field') {
      this.count()
      return { kind: 'field', position, names: this.#parseFields(this.#takeField()) }
    }
    if (type === 'variable') return this.#parseVariable(this.#take(), position)
    if (type === 'open') return this.#parseChain(this.#parseParenthesis())
    if (type !== 'identifier') return this.#parseConstant(type, position)
    this.count()
    const name = this.#take()
    this.#options.checkFunction(name, position)
    return this.#parseChain({ kind: 'function', position, name })
  }

  /** Consumes the token and returns its text. */
  #take(): string {
    const { text } = this.token
    this.token.advance()
    return text
  }

  #takeField(): string {
    const { fieldName } = this.token
    this.token.advance()
    return fieldName
  }

  /** Reads the names of the fields that follow directly. `first` is a name that was already consumed. */
  #parseFields(first: string | null): string[] {
    const names = first === null ? [] : [first]
    while (this.token.type === 'field' && !this.token.hasSpaceBefore) {
      this.count()
      names.push(this.#takeField())
    }
    return names
  }

  #parseChain(base: Operand): Operand {
    const names = this.#parseFields(null)
    return names.length === 0 ? base : { kind: 'chain', position: base.position, base, names }
  }

  #parseParenthesis(): PipeNode {
    this.count()
    this.enter()
    this.token.advance()
    const pipe = this.parsePipeline('parenthesized pipeline', 'close', '')
    this.leave()
    return pipe
  }

  #parseConstant(type: TokenType, position: number): Operand | null {
    const { text } = this.token
    const constant = readConstant(type, text, position)
    if (constant === null) return null
    this.count()
    this.token.advance()
    if (this.token.type === 'field' && !this.token.hasSpaceBefore)
      fail(`unexpected . after term ${text}`, position)
    return constant
  }
}

function readConstant(type: TokenType, text: string, position: number): Operand | null {
  if (type === 'string' || type === 'raw string')
    return { kind: 'string', position, text: unquote(text, position) }
  if (type === 'number') return { kind: 'number', position, text, ...readNumber(text, position) }
  if (type === 'dot' || type === 'nil') return { kind: type, position }
  if (type === 'bool') return { kind: 'bool', position, value: text === 'true' }
  if (type === 'char')
    return { kind: 'number', position, text, ...createCharacterConstant(readCharacter(text, position)) }
  return type === 'complex' ? fail(`imaginary constants are not supported: ${text}`, position) : null
}
