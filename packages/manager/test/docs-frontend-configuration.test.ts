// Plays docs/frontend-configuration.md against a real service. Every fenced block of the page is a picture (mermaid), a
// request (graphql, http) or the answer right behind it (json, http). `<a name>` in an answer takes the value that came,
// and stands for that value from there on; two names never stand for the same one.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, headersOf, proxySecret, startTestApp } from './kit/app.ts'
import { rawCall } from './kit/http.ts'
import { seedUser } from './kit/seed.ts'

type Block = { line: number; language: string; text: string }
type Answer = { status: unknown; headers: Record<string, unknown>; body: unknown }
type Step = { request: Block; expected: Answer; line: number }
type Ask = (language: string, request: string) => Promise<Answer>

const page = readFileSync(new URL('../../../docs/frontend-configuration.md', import.meta.url), 'utf8')
const fence = /^\s*```(.*)$/

function blocksOf(markdown: string): Block[] {
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

function stepsOf(markdown: string): Step[] {
  const blocks = blocksOf(markdown).filter(({ language }) => language !== 'mermaid')
  const steps: Step[] = []
  for (let index = 0; index < blocks.length; index += 2) {
    const [request, answer] = [blocks[index] as Block, blocks[index + 1]]
    const kinds = `${kindOf(request)}, ${answer === undefined ? 'nothing' : kindOf(answer)}`
    if (answer === undefined || !['graphql, json', 'http, http answer'].includes(kinds))
      throw new Error(`line ${request.line}: a request and its answer are expected, not: ${kinds}`)
    steps.push({ request, expected: answerOn(answer), line: answer.line })
  }
  return steps
}

/** A message as HTTP writes it: a first line, headers, an empty line, a body. */
function parseHttp(text: string): { first: string[]; headers: [string, string][]; body: string } {
  const [head = '', ...rest] = text.split('\n\n')
  const [first = '', ...lines] = head.trim().split('\n')
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ')
    return [name.toLowerCase(), value.join(': ')]
  })
  return { first: first.split(' '), headers, body: rest.join('\n\n').trim() }
}

const parseBody = (body: string): unknown => (body === '' ? '' : JSON.parse(body))

function answerOn(block: Block): Answer {
  if (block.language === 'json') return { status: 200, headers: {}, body: parseBody(block.text) }
  const { first, headers, body } = parseHttp(block.text)
  return { status: Number(first[1]), headers: Object.fromEntries(headers), body: parseBody(body) }
}

class Names {
  readonly #values = new Map([['proxy secret', proxySecret]])

  /** The request with values for names; all of them must have come with an earlier answer. */
  fill(text: string): string {
    return text.replaceAll(/<([a-z ]+)>/g, (_, name: string) => {
      const value = this.#values.get(name)
      if (value === undefined) throw new Error(`<${name}> has no value yet`)
      return value
    })
  }

  /** What the page expects, with the values that came in the place of names. */
  meet(expected: unknown, came: unknown): unknown {
    if (Array.isArray(expected))
      return expected.map((one, index) => this.meet(one, (came as unknown[] | undefined)?.[index]))
    if (typeof expected === 'object' && expected !== null)
      return Object.fromEntries(
        Object.entries(expected).map(([key, one]) => [
          key,
          this.meet(one, (came as Record<string, unknown> | undefined)?.[key]),
        ]),
      )
    const name = typeof expected === 'string' ? /^<([a-z ]+)>$/.exec(expected)?.[1] : undefined
    if (name === undefined) return expected
    const known = this.#values.get(name)
    if (known !== undefined) return known
    // Left as it stands, it differs from what came.
    if (typeof came !== 'string' || [...this.#values.values()].includes(came)) return expected
    this.#values.set(name, came)
    return came
  }
}

/** Asks everything in order; throws at the first answer that is not the page's. Returns the answers that came. */
async function play(steps: readonly Step[], ask: Ask): Promise<Answer[]> {
  const names = new Names()
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

let service: TestApp
let askService: Ask
beforeAll(async () => {
  service = await startTestApp()
  const identity = Object.entries(headersOf(await seedUser(service.sql, 'maintainer', 'administrator')))
  askService = async (language, request) => {
    const { first, headers } = parseHttp(request)
    const {
      status,
      headers: came,
      body,
    } = await rawCall(
      service.url,
      language === 'http'
        ? { method: first[0] ?? '', path: first[1] ?? '', headers }
        : {
            method: 'POST',
            path: '/query',
            headers: [['content-type', 'application/json'], ...identity],
            body: JSON.stringify({ query: request }),
          },
    )
    return { status, headers: came, body: parseBody(body) }
  }
})
afterAll(() => service.close())

/** The value with one mistake in it, for each place where it could have one. */
function spoil(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return ['wrong']
  return Object.entries(value).flatMap(([key, one]) =>
    spoil(one).map((wrong) =>
      Array.isArray(value) ? value.with(Number(key), wrong) : { ...value, [key]: wrong },
    ),
  )
}

test('the page on frontend configuration is right in every answer, and a mistake in any of them shows', async () => {
  const steps = stepsOf(page)
  const answers = await play(steps, askService)
  const fences = page.split('\n').filter((line) => fence.test(line)).length
  const pictures = page.split('\n').filter((line) => line === '```mermaid').length
  expect([answers.length * 2 + pictures, pictures]).toEqual([fences / 2, 2])

  for (const [wrongAt, { expected, line }] of steps.entries()) {
    const [, ...fewer] = Object.entries(expected.body as object)
    const mistakes = [...spoil(expected), { ...expected, body: Object.fromEntries(fewer) }] as Answer[]
    for (const mistake of mistakes) {
      const recorded = answers.values()
      const replay: Ask = () => Promise.resolve(recorded.next().value as Answer)
      const changed = steps.with(wrongAt, { ...(steps[wrongAt] as Step), expected: mistake })
      await expect(play(changed, replay)).rejects.toThrow(`the answer at line ${line}:`)
    }
  }
})

test.each([
  ['an answer without its request', /```graphql[^`]*```\n\n(?=```json)/],
  ['a request without its answer', /(?<=```\n\n)```json[^`]*```\n/],
  ['a block of another kind', /(?<=```)http/],
])('a page with %s is refused', (_, part) => {
  const broken = page.replace(part, '')
  expect(broken).not.toBe(page)
  expect(() => stepsOf(broken)).toThrow('a request and its answer are expected')
})
