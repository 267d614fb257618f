// Plays a page of the documentation. Its fenced blocks are requests (graphql, http, sh), each with its answer right
// behind (json after graphql and after a command that prints it, text after one that prints text, otherwise http), or of
// languages that are said to be no part of the play. `<a name>` in an answer takes the value that came, and stands for that value from there on; two names never stand for the same
// one.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

type Block = { line: number; language: string; text: string }
export type Answer = { status: unknown; headers: Record<string, unknown>; body: unknown }
export type Step = { request: Block; expected: Answer; line: number }
export type Ask = (language: string, request: string) => Promise<Answer>

const fence = /^\s*```(.*)$/
const pairs = new Set(['graphql, json', 'http, http answer', 'sh, http answer', 'sh, json', 'sh, text'])

/** The text of a page in docs/. */
export const readPage = (name: string): string =>
  readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8')

/** Every fenced block. */
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
  if (open !== null) throw new Error(`line ${open.line}: the block does not end`)
  return blocks
}

const kindOf = ({ language, text }: Block): string =>
  language === 'http' && text.startsWith('HTTP/') ? 'http answer' : language

/** The requests of a page with their answers; throws when a block is neither. */
export function stepsOf(markdown: string, others: readonly string[]): Step[] {
  const blocks = blocksOf(markdown).filter(({ language }) => !others.includes(language))
  const steps: Step[] = []
  for (let index = 0; index < blocks.length; index += 2) {
    const [request, answer] = [blocks[index] as Block, blocks[index + 1]]
    const kinds = `${kindOf(request)}, ${answer === undefined ? 'nothing' : kindOf(answer)}`
    if (answer === undefined || !pairs.has(kinds))
      throw new Error(`line ${request.line}: a request and its answer are expected, not: ${kinds}`)
    steps.push({ request, expected: expectedOf(answer), line: answer.line })
  }
  return steps
}

function expectedOf({ language, text }: Block): Answer {
  if (language === 'json') return { status: 200, headers: {}, body: parseBody(text) }
  return language === 'text' ? printed(text) : answerOf(text)
}

/** What a command prints that is neither JSON nor HTTP. */
export const printed = (text: string): Answer => ({ status: 200, headers: {}, body: text.trim() })

/** A message as HTTP writes it: a first line, headers, an empty line, a body. */
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

/** The answer that is written as HTTP. */
export function answerOf(message: string): Answer {
  const { first, headers, body } = parseHttp(message)
  return { status: Number(first[1]), headers: Object.fromEntries(headers), body: parseBody(body) }
}

class Names {
  readonly #values: Map<string, string>
  constructor(known: Record<string, string>) {
    this.#values = new Map(Object.entries(known))
  }

  /** The text with values for names; a name without one stays, and no answer has it. */
  fill = (text: string): string =>
    text.replaceAll(/<([a-z ]+)>/g, (whole, name: string) => this.#values.get(name) ?? whole)

  /** What the page expects, with the values that came in the place of names. */
  meet(expected: unknown, came: unknown): unknown {
    if (Array.isArray(expected))
      return expected.map((one, index) => this.meet(one, (came as unknown[] | undefined)?.[index]))
    if (typeof expected === 'object' && expected !== null)
      return Object.fromEntries(
        Object.entries(expected).map(([key, one]) => [
          this.fill(key),
          this.meet(one, (came as Record<string, unknown> | undefined)?.[this.fill(key)]),
        ]),
      )
    if (typeof expected !== 'string') return expected
    const name = /^<([a-z ]+)>$/.exec(expected)?.[1]
    if (name === undefined) return this.fill(expected)
    const value = this.#values.get(name)
    // A number is written as a name in quotes too.
    if (value !== undefined) return typeof came === 'number' && String(came) === value ? came : value
    // Left as it stands, it differs from what came.
    if (typeof came !== 'string' && typeof came !== 'number') return expected
    if ([...this.#values.values()].includes(String(came))) return expected
    this.#values.set(name, String(came))
    return came
  }
}

/** Asks everything in order; throws at the first answer that is not the page's. Returns the answers that came. */
export async function play(
  steps: readonly Step[],
  ask: Ask,
  known: Record<string, string> = {},
): Promise<Answer[]> {
  const names = new Names(known)
  const answers: Answer[] = []
  for (const { request, expected, line } of steps) {
    const came = await ask(request.language, names.fill(request.text))
    answers.push(came)
    // The page shows the headers that matter, and the whole body.
    const shown = Object.keys(expected.headers).map((name) => [name, came.headers[name]])
    const compared = { ...came, headers: Object.fromEntries(shown) }
    expect(compared, `the answer at line ${line}`).toEqual(names.meet(expected, compared))
  }
  return answers
}

/** Plays the same answers to pages with one mistake in an answer, for each place where there could be one. */
export async function expectMistakesToShow(
  steps: readonly Step[],
  answers: readonly Answer[],
  known: Record<string, string> = {},
): Promise<void> {
  for (const [wrongAt, step] of steps.entries()) {
    const [, ...fewer] = Object.entries(step.expected.body as object)
    const mistakes = [...spoil(step.expected), { ...step.expected, body: Object.fromEntries(fewer) }]
    for (const mistake of mistakes as Answer[]) {
      const recorded = answers.values()
      const replay: Ask = () => Promise.resolve(recorded.next().value as Answer)
      const changed = steps.with(wrongAt, { ...step, expected: mistake })
      await expect(play(changed, replay, known)).rejects.toThrow(`the answer at line ${step.line}:`)
    }
  }
}

/** The value with one mistake in it, for each place where it could have one. */
function spoil(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return ['wrong']
  return Object.entries(value).flatMap(([key, one]) =>
    spoil(one).map((wrong) =>
      Array.isArray(value) ? value.with(Number(key), wrong) : { ...value, [key]: wrong },
    ),
  )
}
