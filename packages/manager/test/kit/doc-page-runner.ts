// Runs the examples on a documentation page. Each fenced block is a request (graphql, http or sh), the response to
// the preceding request, or a block in a language that is ignored. The response to graphql is json, and the
// response to http is http. The response to a command (sh) is json, text or http, depending on its output.
//
// `<a name>` captures the received value where it first occurs in a response. After that, the name represents this
// value. Two names never represent the same value.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

type Block = { line: number; language: string; text: string }
export type Answer = { status: unknown; headers: Record<string, unknown>; body: unknown }
export type Step = { request: Block; expected: Answer; line: number }
export type Ask = (language: string, request: string) => Promise<Answer>

const fence = /^\s*```(.*)$/
const pairs = new Set(['graphql, json', 'http, http answer', 'sh, http answer', 'sh, json', 'sh, text'])

/** Reads a page in docs/. */
export const readPage = (name: string): string =>
  readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8')

/** Returns every fenced block. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  for (const [index, line] of markdown.split('\n').entries()) {
    const language = fence.exec(line)?.[1]
    if (language === undefined) {
      if (open !== null) open.text += `${line}\n`
    } else if (open === null) open = { line: index + 1, language, text: '' }
    else {
      blocks.push(open)
      open = null
    }
  }
  if (open !== null) throw new Error(`line ${open.line}: the block is not closed`)
  return blocks
}

const kindOf = ({ language, text }: Block): string =>
  language === 'http' && text.startsWith('HTTP/') ? 'http answer' : language

/** Returns the requests on a page with their responses. Throws if a block is neither. */
export function stepsOf(markdown: string, others: readonly string[]): Step[] {
  const blocks = blocksOf(markdown).filter(({ language }) => !others.includes(language))
  const steps: Step[] = []
  for (let index = 0; index < blocks.length; index += 2) {
    const [request, answer] = [blocks[index] as Block, blocks[index + 1]]
    const kinds = `${kindOf(request)}, ${answer === undefined ? 'nothing' : kindOf(answer)}`
    if (answer === undefined || !pairs.has(kinds))
      throw new Error(`line ${request.line}: expected a request and its response, got ${kinds}`)
    steps.push({ request, expected: expectedOf(answer), line: answer.line })
  }
  return steps
}

function expectedOf({ language, text }: Block): Answer {
  if (language === 'json') return { status: 200, headers: {}, body: parseBody(text) }
  return language === 'text' ? printed(text) : answerOf(text)
}

/** Returns the expected output of a command that prints neither JSON nor HTTP. */
export const printed = (text: string): Answer => ({ status: 200, headers: {}, body: text.trim() })

/** Parses an HTTP message: start line, headers, empty line, body. */
export function parseHttp(text: string): { first: string[]; headers: [string, string][]; body: string } {
  const [head = '', ...rest] = text.replaceAll('\r\n', '\n').split('\n\n')
  const [first = '', ...lines] = head.trim().split('\n')
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ')
    return [name.toLowerCase(), value.join(': ')]
  })
  return { first: first.split(' '), headers, body: rest.join('\n\n').trim() }
}

export const parseBody = (body: string): unknown => (body === '' ? '' : JSON.parse(body))

/** Parses a response that is written as HTTP. */
export function answerOf(message: string): Answer {
  const { first, headers, body } = parseHttp(message)
  return { status: Number(first[1]), headers: Object.fromEntries(headers), body: parseBody(body) }
}

class Names {
  readonly #values: Map<string, string>
  constructor(known: Record<string, string>) {
    this.#values = new Map(Object.entries(known))
  }

  /** Replaces names with their values. An unknown name stays in the text and matches no response. */
  fill = (text: string): string =>
    text.replaceAll(/<([a-z ]+)>/g, (whole, name: string) => this.#values.get(name) ?? whole)

  /** Returns the expected response, with names replaced by the received values. */
  resolve(expected: unknown, received: unknown): unknown {
    if (Array.isArray(expected))
      return expected.map((one, index) => this.resolve(one, (received as unknown[] | undefined)?.[index]))
    if (typeof expected === 'object' && expected !== null)
      return Object.fromEntries(
        Object.entries(expected).map(([key, one]) => [
          this.fill(key),
          this.resolve(one, (received as Record<string, unknown> | undefined)?.[this.fill(key)]),
        ]),
      )
    if (typeof expected !== 'string') return expected
    const name = /^<([a-z ]+)>$/.exec(expected)?.[1]
    if (name === undefined) return this.fill(expected)
    const value = this.#values.get(name)
    // On the page, names are strings even if the value is a number.
    if (value !== undefined)
      return typeof received === 'number' && String(received) === value ? received : value
    // The unresolved name differs from the received value, so the comparison fails.
    if (typeof received !== 'string' && typeof received !== 'number') return expected
    if ([...this.#values.values()].includes(String(received))) return expected
    this.#values.set(name, String(received))
    return received
  }
}

/** Sends the requests in order and returns the responses. Throws at the first response that differs from the page. */
export async function runSteps(
  steps: readonly Step[],
  ask: Ask,
  known: Record<string, string> = {},
): Promise<Answer[]> {
  const names = new Names(known)
  const answers: Answer[] = []
  for (const { request, expected, line } of steps) {
    const received = await ask(request.language, names.fill(request.text))
    answers.push(received)
    // The page shows only the relevant headers, but the complete body.
    const shown = Object.keys(expected.headers).map((name) => [name, received.headers[name]])
    const compared = { ...received, headers: Object.fromEntries(shown) }
    expect(compared, `the response at line ${line}`).toEqual(names.resolve(expected, compared))
  }
  return answers
}

/**
 * Compares the responses with copies of the page that contain one mistake each, at every possible position, and
 * expects a failure.
 */
export async function expectMistakesToShow(
  steps: readonly Step[],
  answers: readonly Answer[],
  known: Record<string, string> = {},
): Promise<void> {
  for (const [wrongAt, step] of steps.entries()) {
    const [, ...fewer] = Object.entries(step.expected.body as object)
    const mistakes = [...withMistakes(step.expected), { ...step.expected, body: Object.fromEntries(fewer) }]
    for (const mistake of mistakes as Answer[]) {
      const recorded = answers.values()
      const replay: Ask = () => Promise.resolve(recorded.next().value as Answer)
      const changed = steps.with(wrongAt, { ...step, expected: mistake })
      await expect(runSteps(changed, replay, known)).rejects.toThrow(`the response at line ${step.line}:`)
    }
  }
}

/** Returns variants of the value with one mistake each, at every possible position. */
function withMistakes(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return ['wrong']
  return Object.entries(value).flatMap(([key, one]) =>
    withMistakes(one).map((wrong) =>
      Array.isArray(value) ? value.with(Number(key), wrong) : { ...value, [key]: wrong },
    ),
  )
}
