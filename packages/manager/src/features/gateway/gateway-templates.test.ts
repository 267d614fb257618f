// These tests cover transformations in the gateway: the data that a template sees, and what the upstream receives.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Gateway, type HeaderLine, type Sent, startGateway } from '../../../test/kit/gateway.ts'

const now = new Date('2026-11-15T08:09:10.123Z')

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({
    env: { SVC_REGION: 'eu-1', APP_ENV: 'blue', SECRET_THING: 'hidden', SVC_ESB_MAX_REQUEST_BYTES: '200000' },
    world: { clock: { now: () => now } },
  })
})
afterAll(() => gateway.close())
beforeEach(() => gateway.upstream.reset())

type Input = Record<string, unknown>
/** Creates an endpoint with a template and returns its path. */
async function withTemplate(transformationTemplate: string, input: Input = {}): Promise<string> {
  const { path } = await gateway.endpoint({ url: gateway.upstream.url, transformationTemplate, ...input })
  return path
}
const post = (path: string, body: string | Buffer, sent: Sent = {}) =>
  gateway.send(path, { method: 'POST', body, ...sent })
const received = () => gateway.upstream.received.at(-1)
/** Returns what the upstream receives for a body. */
async function rendered(template: string, body: string | Buffer, input: Input = {}): Promise<string> {
  const { status, text } = await post(await withTemplate(template, input), body)
  expect([template, status, text]).toEqual([template, 200, '{"accepted":true}'])
  return received()?.body.toString() ?? ''
}

describe('what is rendered', () => {
  test('[esb-templates.render] the upstream gets the rendered text, byte for byte, and nothing of the body', async () => {
    const template =
      '{"caf\u00e9":"{{jsonEscape .Data.name}}","all":[{{range $i, $x := .Data.list}}{{if $i}},{{end}}{{$x}}{{end}}]}'
    const body = JSON.stringify({ name: 'Zo\u00eb "\u20ac"', list: [1, 2.5, 3], rest: 'not rendered' })
    const path = await withTemplate(template)
    const expected = Buffer.from('{"caf\u00e9":"Zo\u00eb \\"\u20ac\\"","all":[1,2.5,3]}')
    for (const method of ['POST', 'GET', 'PROPFIND', 'DELETE'])
      for (const isChunked of [false, true]) {
        const { status } = await gateway.send(`${path}?q=1`, { method, body, isChunked })
        expect(status).toBe(200)
        expect(received()).toMatchObject({ method, url: '/?q=1', body: expected })
        expect(received()?.headers['content-length']).toBe(String(expected.length))
        expect(received()?.headers['transfer-encoding']).toBeUndefined()
      }
  })

  test('[esb-templates.render] a body too large for the main thread is rendered the same', async () => {
    const list = Array.from({ length: 20_000 }, (_, i) => i)
    const template = '{{range .Data}}{{.}},{{end}}'
    expect(await rendered(template, JSON.stringify(list))).toBe(list.map((one) => `${one},`).join(''))
  })

  test('[esb-templates.render] answers are not transformed', async () => {
    gateway.upstream.answer((_request, response) => void response.end('{"as":"it is"}'))
    expect((await post(await withTemplate('x'), '{}')).text).toBe('{"as":"it is"}')
  })

  test('[esb-templates.context] [esb-templates.context-call] [esb-templates.env] a template sees its application, its endpoint, the machine user, the time and four variables', async () => {
    const { project, machine, upstream } = gateway
    const details = { name: 'Orders', description: 'of the shop', consumeURL: '/orders/all' }
    const url = `${upstream.url}/target?k=v`
    const context = (names: string[], of: string) => names.map((name) => `{{.${of}.${name}}}`).join('|')
    const of = (template: string) => rendered(template, '{}', { ...details, consumeURL: `/c${count++}`, url })
    let count = 0
    expect(await of(context(['ID', 'Name', 'Slug', 'Description'], 'Application'))).toBe(
      `${project.applicationId}|Application of shop|${project.applicationSlug}|`,
    )
    expect(await of(context(['Name', 'ConsumeURL', 'URL', 'Description'], 'Endpoint'))).toBe(
      `Orders|/c1|${url}|of the shop`,
    )
    const endpoint = await gateway.endpoint({ url, transformationTemplate: '{{.Endpoint.ID}}' })
    await post(endpoint.path, '')
    expect(received()?.body.toString()).toBe(endpoint.id)
    expect(await of(context(['ID', 'Username', 'Name'], 'User'))).toBe(
      `${machine.id}|Bearer:${machine.token.slice(0, 8)}|test`,
    )
    expect(await of('{{.Meta.Timestamp}}|{{.Meta.RequestTime.Year}}|{{now}}')).toBe(
      '2026-11-15T08:09:10Z|2026|2026-11-15T08:09:10Z',
    )
    expect(await of('{{.Env}}|{{env "APP_ENV"}}|{{env "SECRET_THING"}}|{{env "SVC_MASTER_KEY"}}')).toBe(
      'map[APP_ENV:blue SVC_ENV:test SVC_REGION:eu-1]|blue||',
    )
  })
})

describe('how bodies are read', () => {
  test('[esb-templates.input-json] JSON is read strictly; anything else answers 400 and is not forwarded', async () => {
    const path = await withTemplate('{{toJson .Data}}', { inputMessageType: 'JSON' })
    const good = {
      '{"b":1,"a":[null,true]}': '{"a":[null,true],"b":1}',
      ' [1] ': '[1]',
      '"x"': '"x"',
      null: 'null',
    }
    for (const [body, text] of Object.entries(good)) {
      await post(path, body)
      expect([body, received()?.body.toString()]).toEqual([body, text])
    }
    await post(path, '\ufeff{"a":1}')
    expect(received()?.body.toString()).toBe('{"a":1}')
    gateway.upstream.reset()
    const bad = ['', ' ', '{', "{'a':1}", '{"a":1,}', '{"a":1} x', 'NaN', '<a/>', '// c\n{}', '{"a":01}']
    for (const body of [
      ...bad,
      Buffer.from('{"a":"caf\u00e9"}', 'latin1'),
      Buffer.from('\ufeff{}', 'utf16le'),
    ]) {
      const { status, error } = await post(path, body)
      expect([body, status, error]).toEqual([body, 400, expect.stringMatching(/^the body is not JSON/)])
    }
    expect(gateway.upstream.received).toEqual([])
  })

  test('[esb-templates.input-xml] XML and SOAP become a map; what is broken or has a DOCTYPE answers 400 and is not forwarded', async () => {
    for (const inputMessageType of ['XML', 'SOAP']) {
      const path = await withTemplate('{{toJson .Data}}', { inputMessageType })
      const body =
        '<?xml version="1.0"?><s:Envelope xmlns:s="urn:s"><s:Body id="7"><item>a</item><item>\u20ac</item></s:Body></s:Envelope>'
      for (const sent of [body, `\ufeff${body}`]) {
        expect((await post(path, sent)).status).toBe(200)
        expect(received()?.body.toString()).toBe('{"Envelope":{"Body":{"-id":"7","item":["a","\u20ac"]}}}')
      }
      gateway.upstream.reset()
      for (const bad of [
        '',
        'text',
        '{"a":1}',
        '<a>',
        '<a></b>',
        '<a/><b/>',
        '<!DOCTYPE a><a/>',
        '<?xml version="1.0"?><!doctype a [<!ENTITY x "y">]><a>&x;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<a>&undeclared;</a>',
      ]) {
        const { status, error } = await post(path, bad)
        const words = expect.stringMatching(`^the body is not ${inputMessageType}`)
        expect([bad, status, error]).toEqual([bad, 400, words])
      }
      expect(gateway.upstream.received).toEqual([])
    }
  })

  test('[esb-templates.input-unset] without a type JSON is tried, and any other text is the Body', async () => {
    expect(await rendered('{{.Data.a}}', '{"a":1}')).toBe('1')
    expect(await rendered('{{.Data.Body}}', 'a=1&b=<2>')).toBe('a=1&b=<2>')
    expect(await rendered('[{{.Data.Body}}]', '')).toBe('[]')
    expect(await rendered('{{.Data.Body}}', '<a>x</a>')).toBe('<a>x</a>')
    expect(await rendered('{{.Data.Body}}', '\ufefftext')).toBe('text')
    expect(await rendered('{{.Data.Body}}', Buffer.from([0x61, 0xff, 0x62]))).toBe('a\ufffdb')
    const path = await withTemplate('[{{.Data.Body}}]')
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect((await gateway.send(path, { method })).status).toBe(200)
      expect(received()?.body.toString()).toBe('[]')
    }
  })
})

describe('what is said about the rendered text', () => {
  const typesReceived = () =>
    (received()?.rawHeaders ?? []).filter(
      (_, i, raw) => i % 2 === 1 && /^content.type$/i.test(raw[i - 1] ?? ''),
    )

  test('[esb-templates.content-type] the output type replaces the content type of the caller, however often it is sent', async () => {
    const types = { JSON: 'application/json', XML: 'application/xml', SOAP: 'text/xml; charset=utf-8' }
    const headers: HeaderLine[] = [
      ['Content-Type', 'text/csv'],
      ['content_type', 'text/csv'],
      ['CONTENT-TYPE', 'text/csv'],
    ]
    for (const [outputMessageType, type] of [...Object.entries(types), [null, 'application/json']])
      for (const inputMessageType of [null, 'JSON', 'XML', 'SOAP']) {
        const path = await withTemplate('x', { inputMessageType, outputMessageType })
        const body = inputMessageType === 'XML' || inputMessageType === 'SOAP' ? '<a/>' : '{}'
        for (const sent of [headers.slice(0, 2), headers, []]) {
          expect((await post(path, body, { headers: sent })).status).toBe(200)
          expect(typesReceived()).toEqual([type])
        }
      }
  })

  test('[esb-templates.content-type] an encoding of the body that was sent is not claimed for the rendered one; other headers pass', async () => {
    const path = await withTemplate('x')
    const headers: HeaderLine[] = [
      ['Content-Encoding', 'identity'],
      ['content_encoding', 'identity'],
      ['Content-Language', 'de'],
      ['X-Custom', '1'],
      ['X-Custom', '2'],
    ]
    await post(path, '{}', { headers })
    expect(received()?.headers).toMatchObject({ 'content-language': 'de', 'x-custom': '1, 2' })
    expect(JSON.stringify(received()?.rawHeaders)).not.toMatch(/encoding/i)
  })

  test('[esb.body-unchanged] message types without a template change nothing', async () => {
    const { path } = await gateway.endpoint({
      url: gateway.upstream.url,
      inputMessageType: 'JSON',
      outputMessageType: 'XML',
    })
    const headers: HeaderLine[] = [
      ['Content-Type', 'text/csv'],
      ['Content-Encoding', 'gzip'],
    ]
    expect((await post(path, 'no { json', { headers })).status).toBe(200)
    expect(received()?.body.toString()).toBe('no { json')
    expect([typesReceived(), received()?.headers['content-encoding']]).toEqual([['text/csv'], 'gzip'])
  })
})

describe('templates that fail', () => {
  test('[esb-templates.execution-error] an error in execution answers 500 and nothing is forwarded, or told of the body', async () => {
    const failing = {
      field: '{{.Data.secret.deeper}}',
      time: '{{.Meta.RequestTime.Nothing}}',
      range: '{{range .Data.secret}}x{{end}}',
      late: '{{.Data.secret}}{{.Data.secret.deeper}}',
      recursion: '{{define "t"}}{{template "t" .}}{{end}}{{template "t" .}}',
      endless: '{{range .Data.list}}{{range $.Data.list}}{{range $.Data.list}}x{{end}}{{end}}{{end}}',
    }
    const body = JSON.stringify({ secret: 'my-secret', list: Array.from({ length: 100 }, (_, i) => i) })
    let begun = 0
    gateway.upstream.handle((_request, response) => void response.end(String(begun++)))
    for (const [what, template] of Object.entries(failing)) {
      const answer = await post(await withTemplate(template), body)
      expect([what, answer.status, answer.error]).toEqual([
        what,
        500,
        'the transformation template of the endpoint failed; nothing was forwarded',
      ])
      expect(answer.text).not.toContain('my-secret')
    }
    expect(begun).toBe(0)
  })

  test('[esb-templates.execution-error] text that is rendered larger than a body may be is not forwarded', async () => {
    const path = await withTemplate('{{.Data.Body}}{{.Data.Body}}')
    expect((await post(path, 'x'.repeat(100_000))).status).toBe(200)
    expect(received()?.body.length).toBe(200_000)
    expect((await post(path, 'x'.repeat(100_001))).status).toBe(500)
    expect(gateway.upstream.received).toHaveLength(1)
  })
})
