// The parser: statements here, what stands inside an action in pipeline.ts.
import { Failure, fail } from './errors.ts'
import { type Token } from './lex.ts'
import {
  type ConditionNode,
  type Definition,
  type ListNode,
  type PipeNode,
  type RangeNode,
  type Statement,
} from './node.ts'
import { PipelineParser, type ParserOptions, Scope } from './pipeline.ts'
import { unquote } from './constants.ts'

/** The templates of one source by name, the one of the source itself included. */
export type Definitions = ReadonlyMap<string, Definition>

/** Parses a source; throws a Failure with a position when it is not a template. */
export function parseDefinitions(source: string, name: string, options: ParserOptions): Definitions {
  if (source.length > options.limits.length)
    throw new Failure(`the template is longer than ${options.limits.length} characters`, 0, 'length')
  return new Parser(source, options).parse(name)
}

/** `{{end}}` or `{{else}}`, which close a list. */
interface Closing {
  readonly kind: 'end' | 'else'
  readonly position: number
}

interface Body {
  readonly list: ListNode
  readonly closing: Closing
}

const isClosing = (node: Statement | Closing): node is Closing => node.kind === 'end' || node.kind === 'else'

class Parser extends PipelineParser {
  readonly #definitions = new Map<string, Definition>()

  parse(name: string): Definitions {
    const list: Statement[] = []
    for (;;) {
      const token = this.peek()
      if (token.type === 'eof') break
      if (token.type === 'left' && isKeyword(this.peekSecond(), 'define')) this.#define()
      else {
        const statement = this.#statement()
        if (isClosing(statement)) return fail(`unexpected {{${statement.kind}}}`, statement.position)
        list.push(statement)
      }
    }
    this.#add(name, list, this.scope, this.peek().position)
    return this.#definitions
  }

  /** A template that says nothing gives way to one that does; two that do are an error. */
  #add(name: string, list: ListNode, scope: Scope, position: number): void {
    const existing = this.#definitions.get(name)
    if (existing === undefined || isBlank(existing.list))
      this.#definitions.set(name, { list, levels: scope.deepest })
    else if (!isBlank(list)) fail(`multiple definition of template "${name}"`, position)
  }

  #define(): void {
    this.next()
    const { position } = this.next()
    const name = this.#templateName('define clause')
    this.expect('right', 'define clause')
    this.#definition(name, 'define clause', position)
  }

  /** The body of a definition, which sees no variables from outside. */
  #definition(name: string, context: string, position: number): void {
    const outer = this.scope
    this.scope = new Scope()
    const body = this.#body()
    if (body.closing.kind !== 'end') fail(`unexpected {{else}} in ${context}`, body.closing.position)
    this.#add(name, body.list, this.scope, position)
    this.scope = outer
  }

  #templateName(context: string): string {
    const token = this.next()
    if (token.type !== 'string' && token.type !== 'raw string') return this.unexpected(token, context)
    return unquote(token.text, token.position)
  }

  /** Statements up to `{{end}}` or `{{else}}`. */
  #body(): Body {
    this.enter()
    const list: Statement[] = []
    for (;;) {
      const token = this.peek()
      if (token.type === 'eof') return fail('unexpected EOF: an {{end}} is missing', token.position)
      const statement = this.#statement()
      if (isClosing(statement)) {
        this.leave()
        return { list, closing: statement }
      }
      list.push(statement)
    }
  }

  #statement(): Statement | Closing {
    const token = this.next()
    this.count(token)
    if (token.type === 'text') return { kind: 'text', position: token.position, text: token.text }
    if (token.type !== 'left') return this.unexpected(token, 'input')
    const first = this.peek()
    if (first.type !== 'keyword')
      return { kind: 'action', position: first.position, pipe: this.pipeline('command', 'right') }
    this.next()
    switch (first.text) {
      case 'end':
        this.expect('right', 'end')
        return { kind: 'end', position: first.position }
      case 'else':
        return this.#else(first)
      case 'if':
      case 'with':
        return this.#condition(first.text, first)
      case 'range':
        return this.#range(first)
      case 'break':
      case 'continue':
        return this.#jump(first.text, first)
      case 'template':
        return this.#template(first)
      case 'block':
        return this.#block(first)
      default:
        return this.unexpected(first, 'command')
    }
  }

  /** `{{else}}`; the `if` or `with` of `{{else if …}}` is left for the statement it belongs to. */
  #else({ position }: Token): Closing {
    const next = this.peek()
    if (!isKeyword(next, 'if') && !isKeyword(next, 'with')) this.expect('right', 'else')
    return { kind: 'else', position }
  }

  #condition(kind: 'if' | 'with', token: Token): ConditionNode {
    const mark = this.scope.mark()
    const branches: { pipe: PipeNode; list: ListNode }[] = []
    let otherwise: ListNode | null = null
    for (;;) {
      const pipe = this.pipeline(kind, 'right')
      const body = this.#body()
      branches.push({ pipe, list: body.list })
      if (body.closing.kind === 'end') break
      if (isKeyword(this.peek(), kind)) {
        this.next()
        continue
      }
      otherwise = this.#otherwise()
      break
    }
    this.scope.release(mark)
    return { kind, position: token.position, branches, otherwise }
  }

  #otherwise(): ListNode {
    const body = this.#body()
    if (body.closing.kind !== 'end') fail('expected end; found {{else}}', body.closing.position)
    return body.list
  }

  #range(token: Token): RangeNode {
    const mark = this.scope.mark()
    const pipe = this.pipeline('range', 'right')
    this.scope.loops++
    const body = this.#body()
    this.scope.loops--
    const otherwise = body.closing.kind === 'else' ? this.#otherwise() : null
    this.scope.release(mark)
    return { kind: 'range', position: token.position, pipe, list: body.list, otherwise }
  }

  #jump(kind: 'break' | 'continue', token: Token): Statement {
    this.expect('right', `{{${kind}}}`)
    if (this.scope.loops === 0) fail(`{{${kind}}} outside {{range}}`, token.position)
    return { kind, position: token.position }
  }

  #template(token: Token): Statement {
    const name = this.#templateName('template clause')
    const position = token.position
    if (this.peek().type !== 'right')
      return { kind: 'template', position, name, pipe: this.pipeline('template clause', 'right') }
    this.next()
    return { kind: 'template', position, name, pipe: null }
  }

  #block(token: Token): Statement {
    const name = this.#templateName('block clause')
    const pipe = this.pipeline('block clause', 'right')
    this.#definition(name, 'block clause', token.position)
    return { kind: 'template', position: token.position, name, pipe }
  }
}

const isKeyword = (token: Token, text: string): boolean => token.type === 'keyword' && token.text === text

// White space as Go has it, which is not what JavaScript trims.
const blank = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/

/** Whether a list holds nothing but white space. */
const isBlank = (list: ListNode): boolean =>
  list.every((node) => node.kind === 'text' && blank.test(node.text))
