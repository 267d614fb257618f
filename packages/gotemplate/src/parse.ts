// The parser for statements. pipeline.ts parses the content of actions.
import { unquote } from './constants.ts'
import { Failure, fail } from './errors.ts'
import { type Keyword } from './lex.ts'
import { type ConditionNode, type Definition, type ListNode, type RangeNode, type Statement } from './node.ts'
import { type ParserOptions, PipelineParser, Scope } from './pipeline.ts'

/** The templates of one source by name, including the source itself. */
export type Definitions = ReadonlyMap<string, Definition>

/** Parses a source. Throws a Failure with a position if it is not a valid template. */
export function parseDefinitions(source: string, name: string, options: ParserOptions): Definitions {
  if (source.length > options.limits.length)
    throw new Failure(`the template is longer than ${options.limits.length} characters`, 0, 'length')
  return new Parser(source, options).parse(name)
}

/** The token that ends a list. `chain` is an `else` followed by an `if` or `with` that has not been consumed yet. */
type Closing = 'end' | 'else' | 'chain'

class Parser extends PipelineParser {
  readonly #definitions = new Map<string, Definition>()
  /** The ending of the list that was read last, and its position. */
  #closing: Closing = 'end'
  #closedAt = 0

  parse(name: string): Definitions {
    const statements: Statement[] = []
    while (this.token.type !== 'eof') {
      const statement = this.#parseStatement(true)
      if (statement === null) continue
      if (typeof statement === 'string')
        return fail(`unexpected {{${statement === 'end' ? 'end' : 'else'}}}`, this.#closedAt)
      statements.push(statement)
    }
    this.#add(name, { statements, weight: this.weight }, this.token.start)
    return this.#definitions
  }

  /**
   * Adds a template. A template with content replaces a blank template. Two templates with content are an
   * error.
   */
  #add(name: string, list: ListNode, position: number): void {
    const previousDefinition = this.#definitions.get(name)
    if (previousDefinition === undefined || isBlank(previousDefinition.list))
      this.#definitions.set(name, { list, levels: this.scope.deepest })
    else if (!isBlank(list)) fail(`multiple definition of template "${name}"`, position)
  }

  /** Reads statements up to `{{end}}` or `{{else}}`. */
  #parseBody(): ListNode {
    this.enter()
    const outerWeight = this.weight
    this.weight = 0
    let statements: Statement[] = []
    for (;;) {
      if (this.token.type === 'eof') fail('unexpected EOF: an {{end}} is missing', this.token.start)
      const statement = this.#parseStatement(false)
      if (statement === null) continue
      if (typeof statement === 'string') {
        const list = { statements, weight: this.weight }
        this.weight = outerWeight
        this.leave()
        return list
      }
      // Most bodies contain a single statement, and a growing array would reserve memory for many.
      if (statements.length === 0) statements = [statement]
      else statements.push(statement)
    }
  }

  #expectEnd(context: string): void {
    if (this.#closing !== 'end') fail(`unexpected {{else}}${context}`, this.#closedAt)
  }

  #close(closing: Closing, position: number): Closing {
    this.#closing = closing
    this.#closedAt = position
    return closing
  }

  /**
   * Reads one statement, or the end of the list. Returns null for a definition, which is allowed only at the top level
   * and adds no statement.
   */
  #parseStatement(isTop: boolean): Statement | Closing | null {
    this.count()
    if (this.token.type === 'keyword') return this.#parseKeyword(isTop)
    if (this.token.type !== 'text') return this.parsePipeline('command', 'right', '')
    const { text, start } = this.token
    this.token.advance()
    if (!this.#isAtPipeline()) return { kind: 'text', position: start, text }
    this.count()
    return this.parsePipeline('command', 'right', text)
  }

  #isAtPipeline(): boolean {
    const { type } = this.token
    // Two text nodes can be adjacent if a comment separates them.
    return type !== 'keyword' && type !== 'text' && type !== 'eof'
  }

  #parseKeyword(isTop: boolean): Statement | Closing | null {
    const { keyword, start } = this.token
    if (keyword === 'define' && !isTop) return this.failUnexpected('command')
    this.token.advance()
    switch (keyword) {
      case 'if':
      case 'with':
        return this.#parseCondition(keyword, start)
      case 'range':
        return this.#parseRange(start)
      case 'break':
      case 'continue':
        return this.#parseJump(keyword, start)
      case 'template':
        return this.#parseTemplate(start)
      case 'block':
        return this.#parseBlock(start)
      case 'end':
        this.expect('right', 'end')
        return this.#close('end', start)
      case 'else':
        return this.#parseElse(start)
      case 'define':
      case null:
        return this.#parseDefine(start)
    }
  }

  #isKeyword(keyword: Keyword): boolean {
    return this.token.type === 'keyword' && this.token.keyword === keyword
  }

  #parseElse(position: number): Closing {
    if (this.#isKeyword('if') || this.#isKeyword('with')) return this.#close('chain', position)
    this.expect('right', 'else')
    return this.#close('else', position)
  }

  #parseCondition(kind: 'if' | 'with', position: number): ConditionNode {
    const mark = this.scope.mark()
    const branches = [this.#parseBranch(kind)]
    while (this.#closing === 'chain' && this.#isKeyword(kind)) {
      this.token.advance()
      branches.push(this.#parseBranch(kind))
    }
    const elseList = this.#parseElseList()
    this.scope.release(mark)
    return { kind, position, branches, elseList }
  }

  #parseBranch(kind: 'if' | 'with'): ConditionNode['branches'][number] {
    const pipe = this.parsePipeline(kind, 'right', '')
    return { pipe, list: this.#parseBody() }
  }

  /** Reads the list after an `else`. Returns null if there is no `else`. */
  #parseElseList(): ListNode | null {
    if (this.#closing === 'end') return null
    if (this.#closing === 'chain') this.failUnexpected('else')
    const list = this.#parseBody()
    this.#expectEnd('; an {{end}} is expected')
    return list
  }

  #parseRange(position: number): RangeNode {
    const mark = this.scope.mark()
    const pipe = this.parsePipeline('range', 'right', '')
    this.scope.loops++
    const list = this.#parseBody()
    this.scope.loops--
    const elseList = this.#parseElseList()
    this.scope.release(mark)
    return { kind: 'range', position, pipe, list, elseList }
  }

  #parseJump(kind: 'break' | 'continue', position: number): Statement {
    this.expect('right', `{{${kind}}}`)
    if (this.scope.loops === 0) fail(`{{${kind}}} outside {{range}}`, position)
    return { kind, position }
  }

  #parseTemplate(position: number): Statement {
    const name = this.#parseTemplateName('template clause')
    if (this.token.type !== 'right')
      return { kind: 'template', position, name, pipe: this.parsePipeline('template clause', 'right', '') }
    this.token.advance()
    return { kind: 'template', position, name, pipe: null }
  }

  #parseTemplateName(context: string): string {
    const { type, text, start } = this.token
    if (type !== 'string' && type !== 'raw string') return this.failUnexpected(context)
    const name = unquote(text, start)
    this.token.advance()
    return name
  }

  #parseBlock(position: number): Statement {
    const name = this.#parseTemplateName('block clause')
    const pipe = this.parsePipeline('block clause', 'right', '')
    this.#parseDefinition(name, 'block clause', position)
    return { kind: 'template', position, name, pipe }
  }

  #parseDefine(position: number): null {
    const name = this.#parseTemplateName('define clause')
    this.expect('right', 'define clause')
    this.#parseDefinition(name, 'define clause', position)
    return null
  }

  /** Reads the body of a definition, which cannot use outer variables. */
  #parseDefinition(name: string, context: string, position: number): void {
    const outerScope = this.scope
    this.scope = new Scope()
    const list = this.#parseBody()
    this.#expectEnd(` in ${context}`)
    this.#add(name, list, position)
    this.scope = outerScope
  }
}

// White space as Go defines it. JavaScript's trim() uses a different definition.
const whiteSpace = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/

/** Returns whether a list contains only white space. */
const isBlank = ({ statements }: ListNode): boolean =>
  statements.every((node) => node.kind === 'text' && whiteSpace.test(node.text))
