// Tests GET /gql without a browser: how the page is served, and the documents in its tabs.
import { readFileSync } from 'node:fs'
import { Kind, buildSchema, parse, print, validate, visit } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { graphiqlTabs } from '../src/graphiql-tabs.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { type RawAnswer, rawCall } from './kit/http.ts'
import { blocksOf, readPage } from './kit/doc-page-runner.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp({ env: { SVC_ENV: 'development' } })
})
afterAll(() => service.close())

const ask = (headers: Record<string, string>, method = 'GET'): Promise<RawAnswer> =>
  rawCall(service.url, { method, path: '/gql', headers: Object.entries(headers) })
const encodings = ['br', 'gzip', 'identity'] as const

describe('the page', () => {
  test('is sent in the smallest encoding that the client accepts, and is the same in each', async () => {
    const sizes: Record<string, number> = {}
    const plain = await (
      await fetch(`${service.url}/gql`, { headers: { 'accept-encoding': 'identity' } })
    ).text()
    for (const encoding of encodings) {
      const headers = { 'accept-encoding': encoding }
      const { status, headers: sent } = await ask(headers, 'HEAD')
      expect([status, sent['content-encoding'], sent['vary'], sent['content-type']]).toEqual([
        200,
        encoding === 'identity' ? undefined : encoding,
        'accept-encoding',
        'text/html; charset=utf-8',
      ])
      sizes[encoding] = Number(sent['content-length'])
      const decoded = await (await fetch(`${service.url}/gql`, { headers })).text()
      expect(decoded === plain).toBe(true)
    }
    const { br = 0, gzip = 0, identity = 0 } = sizes
    expect(identity).toBe(Buffer.byteLength(plain))
    expect([gzip < identity / 3, br < gzip, br > 0]).toEqual([true, true, true])
  })

  test('goes out unencoded to a client that accepts neither, or says nothing', async () => {
    for (const headers of [{}, { 'accept-encoding': 'deflate' }, { 'accept-encoding': 'br;q=0, gzip;q=0' }]) {
      const { headers: sent, body } = await ask(headers as Record<string, string>)
      expect([sent['content-encoding'], Number(sent['content-length'])]).toEqual([
        undefined,
        Buffer.byteLength(body),
      ])
    }
  })

  test('is not sent again to a client that has it in that encoding', async () => {
    const validators = new Set<string>()
    for (const encoding of encodings) {
      const full = await ask({ 'accept-encoding': encoding }, 'HEAD')
      const etag = full.headers['etag'] as string
      validators.add(etag)
      expect(full.headers['cache-control']).toBe('no-cache')
      const again = await ask({ 'accept-encoding': encoding, 'if-none-match': etag })
      expect([again.status, again.body, again.headers['etag'], again.headers['vary']]).toEqual([
        304,
        '',
        etag,
        'accept-encoding',
      ])
      expect(again.headers['content-encoding']).toBeUndefined()
    }
    expect(validators.size).toBe(encodings.length)
  })
})

describe('the tabs', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  /** Returns the GraphQL documents in the commands of a documentation page. */
  const sentIn = (page: string): string[] =>
    [...page.matchAll(/-d '(\{"query":[^']+)'/g)].map(
      ([, body]) => (JSON.parse(body as string) as { query: string }).query,
    )
  /** Normalizes a document: formatting, comments and the operation name do not matter. */
  const bare = (document: string): string =>
    print(
      visit(parse(document), {
        [Kind.OPERATION_DEFINITION]: (operation) => ({ ...operation, name: undefined }),
      }),
    )
  const first = 9

  test('hold the examples of the README and the first steps of the page on the ESB, in their order', () => {
    const tutorial = readPage('start/call-a-partner.md')
    const operations = blocksOf(tutorial).filter(({ language }) => language === 'graphql')
    const examples = [...sentIn(readme), ...operations.slice(0, first).map(({ text }) => text)]
    expect(examples).toHaveLength(2 + first)
    expect(graphiqlTabs.map(({ query }) => bare(query))).toEqual(examples.map(bare))
  })

  test('hold valid documents of one operation, whose name is the title of the tab', () => {
    const schema = buildSchema(service.app.describe().schema)
    const names = graphiqlTabs.map(({ query }) => {
      const document = parse(query)
      expect([query, validate(schema, document)]).toEqual([query, []])
      expect(document.definitions).toHaveLength(1)
      return (document.definitions[0] as { name?: { value: string } }).name?.value
    })
    expect(names).not.toContain(undefined)
    expect(new Set(names).size).toBe(names.length)
  })
})
