// The parser of what stands inside an action: pipelines, commands, operands. Tokens, scopes and limits are here too.
import { characterCode, characterConstant, readNumber, unquote } from './constants.ts'
import { Failure, fail } from './errors.ts'
import { Lexer, type Token, type TokenType } from './lex.ts'
import { type Command, type Operand, type PipeNode } from './node.ts'

/** How large a template may be. */
export interface Limits {
  /** UTF-16 units. */
  readonly length: number
  /** Blocks and parentheses within one another. */
  readonly nesting: number
  /** Statements, operands and fields. */
  readonly nodes: number
}

export interface ParserOptions {
  readonly limits: Limits
  /** Fails when there is no such function. */
  readonly checkFunction: (name: string, position: number) => void
}

/** The variables that a template has declared so far, and how many loops are open around this place. */
export class Scope {
  loops = 0
  level = 0
  deepest = 0
  readonly #declared = new Map<string, number>([['$', 1]])
  readonly #order: string[] = []

  declare(name: string): void {
    this.#order.push(name)
    this.#declared.set(name, (this.#declared.get(name) ?? 0) + 1)
  }

  has(name: string): boolean {
    return (this.#declared.get(name) ?? 0) > 0
  }

  mark(): number {
    return this.#order.length
  }

  /** Forgets what was declared since the mark. */
  release(mark: number): void {
    for (const name of this.#order.splice(mark)) this.#declared.set(name, (this.#declared.get(name) ?? 0) - 1)
  }
}

const operandStarts: ReadonlySet<TokenType> = new Set([
  'bool',
  'char',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'raw string',
  'string',
  'variable',
  'open',
])

export class PipelineParser {
  scope = new Scope()
  readonly #lexer: Lexer
  readonly #options: ParserOptions
  readonly #numbers = new Map<string, number>([['$', 0]])
  // Two tokens are looked at before they are read; more is never needed.
  #first: Token | null = null
  #second: Token | null = null
  #nodes = 0
  #nesting = 0
  #weight = 0

  constructor(source: string, options: ParserOptions) {
    this.#lexer = new Lexer(source)
    this.#options = options
  }

  protected peek(): Token {
    this.#first ??= this.#lexer.next()
    return this.#first
  }

  /** The token behind the next one. */
  protected peekSecond(): Token {
    this.#first ??= this.#lexer.next()
    this.#second ??= this.#lexer.next()
    return this.#second
  }

  protected next(): Token {
    const token = this.#first ?? this.#lexer.next()
    this.#first = this.#second
    this.#second = null
    return token
  }

  protected expect(type: TokenType, context: string): Token {
    const token = this.next()
    return token.type === type ? token : this.unexpected(token, context)
  }

  protected unexpected(token: Token, context: string): never {
    if (token.type === 'error') return fail(token.text, token.position)
    return fail(`unexpected ${describeToken(token)} in ${context}`, token.position)
  }

  /** Counts a node against the limit. */
  protected count(token: Token): void {
    this.#nodes++
    this.#weight++
    const { nodes } = this.#options.limits
    if (this.#nodes > nodes)
      throw new Failure(`the template has more than ${nodes} nodes`, token.position, 'nodes')
  }

  /** Goes one block or parenthesis deeper. */
  protected enter(): void {
    const { nesting } = this.#options.limits
    if (++this.#nesting > nesting)
      throw new Failure(`nested more than ${nesting} deep`, this.peek().position, 'nesting')
    this.scope.deepest = Math.max(this.scope.deepest, ++this.scope.level)
  }

  protected leave(): void {
    this.#nesting--
    this.scope.level--
  }

  /** Declarations, then commands up to the token that closes the pipeline. */
  protected pipeline(context: string, close: 'right' | 'close'): PipeNode {
    const { position } = this.peek()
    const outerWeight = this.#weight
    this.#weight = 0
    const { variables, assigns } = this.#declarations(context)
    const commands: Command[] = []
    for (;;) {
      const token = this.peek()
      if (token.type === close) break
      if (!operandStarts.has(token.type)) return this.unexpected(token, context)
      commands.push(this.#command())
    }
    const end = this.next()
    if (commands.length === 0) fail(`missing value for ${context}`, end.position)
    checkStages(commands)
    const weight = this.#weight + 1
    this.#weight = outerWeight + weight
    return { kind: 'pipe', position, variables, assigns, commands, weight }
  }

  #declarations(context: string): Pick<PipeNode, 'variables' | 'assigns'> {
    const variables: { name: string; number: number }[] = []
    while (this.peek().type === 'variable') {
      const variable = this.peek()
      const after = this.peekSecond()
      const comma = after.type === 'other' && after.text === ','
      if (after.type !== 'declare' && after.type !== 'assign' && !comma) break
      this.next()
      this.next()
      this.scope.declare(variable.text)
      variables.push({ name: variable.text, number: this.#number(variable.text) })
      if (!comma) return { variables, assigns: after.type === 'assign' }
      if (context !== 'range' || variables.length > 1)
        fail(`too many declarations in ${context}`, after.position)
      const second = this.peek()
      if (second.type !== 'variable' && second.type !== 'right')
        fail('range can only initialize variables', second.position)
    }
    return { variables, assigns: false }
  }

  #number(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(name, number)
    return number
  }

  /** Operands separated by spaces, up to a pipe, which is passed over, or to what closes the pipeline. */
  #command(): Command {
    const operands: Operand[] = []
    for (;;) {
      const operand = this.#operand()
      if (operand !== null) operands.push(operand)
      const token = this.peek()
      if (token.type === 'right' || token.type === 'close') break
      if (token.type === 'pipe') {
        this.next()
        break
      }
      if (operand === null || !token.spaced) this.unexpected(token, 'operand')
    }
    return operands as [Operand, ...Operand[]]
  }

  #operand(): Operand | null {
    const token = this.peek()
    const term = this.#term(token)
    if (term === null || !this.#fieldFollows()) return term
    switch (term.kind) {
      case 'field':
      case 'variable':
        return { ...term, names: this.#fields(term.names) }
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return fail(`unexpected . after term ${token.text}`, token.position)
      case 'chain':
      case 'function':
      case 'pipe':
        return { kind: 'chain', position: term.position, base: term, names: this.#fields([]) }
    }
  }

  /** The names of the fields that follow, after these. */
  #fields(first: readonly string[]): string[] {
    const names = first.slice()
    while (this.#fieldFollows()) {
      this.count(this.peek())
      names.push(this.next().text.slice(1))
    }
    return names
  }

  #fieldFollows(): boolean {
    const token = this.peek()
    return token.type === 'field' && !token.spaced
  }

  #term(token: Token): Operand | null {
    if (!operandStarts.has(token.type)) return null
    this.next()
    this.count(token)
    const { type, position, text } = token
    if (type === 'field') return { kind: 'field', position, names: [text.slice(1)] }
    if (type === 'variable') {
      if (!this.scope.has(text)) fail(`undefined variable "${text}"`, position)
      return { kind: 'variable', position, name: text, number: this.#number(text), names: [] }
    }
    if (type === 'identifier') {
      this.#options.checkFunction(text, position)
      return { kind: 'function', position, name: text }
    }
    if (type === 'dot' || type === 'nil') return { kind: type, position }
    return type === 'open' ? this.#parenthesis() : readConstant(token)
  }

  #parenthesis(): PipeNode {
    this.enter()
    const pipe = this.pipeline('parenthesized pipeline', 'close')
    this.leave()
    return pipe
  }
}

function readConstant({ type, position, text }: Token): Operand {
  if (type === 'bool') return { kind: 'bool', position, value: text === 'true' }
  if (type === 'number') return { kind: 'number', position, text, ...readNumber(text, position) }
  if (type === 'char')
    return { kind: 'number', position, text, ...characterConstant(characterCode(text, position)) }
  if (type === 'complex') return fail(`imaginary constants are not supported: ${text}`, position)
  return { kind: 'string', position, text: unquote(text, position) }
}

/** Only the first stage of a pipeline may be a plain value: the others are given an argument. */
function checkStages(commands: readonly Command[]): void {
  commands.forEach(([first], index) => {
    if (index > 0 && ['bool', 'dot', 'nil', 'number', 'string'].includes(first.kind))
      fail(`non executable command in pipeline stage ${index + 1}`, first.position)
  })
}

/** A token as messages name it. */
function describeToken(token: Token): string {
  if (token.type === 'eof') return 'EOF'
  if (token.type === 'keyword') return `<${token.text}>`
  return JSON.stringify(token.text.length > 20 ? `${token.text.slice(0, 20)}…` : token.text)
}
