import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { startUpstream } from '../../../test/kit/upstream.ts'

let service: TestApp
let open: TestApp
let admin: Person
let project: SeededProject
const now = new Date('2026-11-15T08:09:10.123Z')

beforeAll(async () => {
  const world = { clock: { now: () => now } } as never
  const env = { SVC_REGION: 'eu-1', APP_ENV: 'blue', SECRET_THING: 'hidden' }
  service = await startTestApp({ env, world })
  open = await startTestApp({
    env: { ...env, SVC_ESB_TEMPLATE_BUILTINS: 'true' },
    world,
    database: service.database,
  })
  admin = await seedUser(service.sql, 'admin', 'administrator')
  project = await seedProject(service.sql, 'previews')
})
afterAll(async () => {
  await open.close()
  await service.close()
})

let count = 0
async function makeEndpoint(input: Record<string, unknown> = {}, app = service): Promise<string> {
  const { data, error } = await app.query(
    admin,
    `mutation($id: ID!, $input: CreateEndpointInput!) { createEndpoint(applicationId: $id, input: $input) { id } }`,
    { id: project.applicationId, input: { name: 'Orders', consumeURL: `/o${++count}`, ...input } },
  )
  expect(error).toBeNull()
  return data.createEndpoint.id as string
}

const preview = (
  endpointId: string,
  input: { body: string; transformationTemplate?: string | null },
  { app = service, caller = admin } = {},
) =>
  app.query(
    caller,
    `mutation($endpointId: ID!, $input: PreviewESBTransformInput!) {
      previewESBTransform(endpointId: $endpointId, input: $input) { output contentType }
    }`,
    { endpointId, input },
  )

/** Returns the output of a template for a body, or the error. */
async function rendered(template: string, body = '{}', input: Record<string, unknown> = {}, app = service) {
  const id = await makeEndpoint(input, app)
  const { data, error } = await preview(id, { body, transformationTemplate: template }, { app })
  return error ?? (data.previewESBTransform.output as string)
}

describe('previewing a transformation', () => {
  test('[esb-templates.preview] answers the rendered body and its content type; a given template wins over the stored one', async () => {
    const id = await makeEndpoint({ transformationTemplate: '{"stored":{{toJson .Data.a}}}' })
    const body = '{"a":[1,"x",null]}'
    expect((await preview(id, { body })).data.previewESBTransform).toEqual({
      output: '{"stored":[1,"x",null]}',
      contentType: 'application/json',
    })
    const other = await preview(id, { body, transformationTemplate: '{{.Data.a}}' })
    expect(other.data.previewESBTransform.output).toBe('[1 x <nil>]')
    const without = await preview(await makeEndpoint(), { body })
    expect(without.error).toMatch(/has no transformationTemplate/)
  })

  test('[esb-templates.preview-no-effect] nothing is forwarded, saved or logged, also where a call would be; it takes the role tester', async () => {
    const upstream = await startUpstream()
    const id = await makeEndpoint({
      transformationTemplate: 'x',
      url: upstream.url,
      logLevel: 'FULL',
      authType: 'Bearer',
      authToken: 'secret',
    })
    const everything = async () => {
      const { rows } = await service.sql.query(
        `select (select count(*) from audit_logs) as changes, (select count(*) from esb_audit_logs) as calls,
           (select jsonb_agg(e) from endpoints e where id = $1) as endpoint,
           (select jsonb_agg(p) from projects p) as projects`,
        [id],
      )
      return rows
    }
    const before = await everything()
    for (const [template, output] of [
      ['y', 'y'],
      [null, 'x'],
    ] as const) {
      const { data } = await preview(id, { body: '{}', transformationTemplate: template })
      expect(data.previewESBTransform.output).toBe(output)
    }
    expect((await preview(id, { body: '"a"', transformationTemplate: '{{.Data.x}}' })).error).toMatch(
      /failed/,
    )
    expect(await everything()).toEqual(before)
    expect([upstream.received, upstream.sockets.size]).toEqual([[], 0])
    expect((await preview(randomUUID(), { body: '' })).error).toBe('endpoint not found')
    await upstream.close()
    const errors = []
    for (const role of ['readonly', 'tester']) {
      const caller = await seedUser(service.sql, `previewing-${role}`)
      await seedMember(service.sql, caller, role, { projectId: project.id })
      errors.push((await preview(id, { body: '' }, { caller })).error)
    }
    expect(errors).toEqual([expect.stringMatching(/^not permitted/), null])
  })

  test('[esb-templates.context] [esb-templates.context-call] shows application, endpoint, caller and time', async () => {
    const template = `{{.Application.ID}}|{{.Application.Slug}}|{{.Application.Name}}|{{.Endpoint.Name}}|{{.Endpoint.URL}}|{{.User.ID}}|{{.User.Username}}|{{.User.Name}}|{{.Meta.Timestamp}}|{{.Meta.RequestTime.Format "2006-01-02 15:04:05"}}|{{.Meta.RequestTime.Year}}`
    const { id, slug } = { id: project.applicationId, slug: project.applicationSlug }
    expect(await rendered(template, '{}', { url: 'https://partner.example/x' })).toBe(
      `${id}|${slug}|Application of previews|Orders|https://partner.example/x|${admin.id}|${admin.email}|${admin.name}|2026-11-15T08:09:10Z|2026-11-15 08:09:10|2026`,
    )
  })

  test('[esb-templates.env] reads four variables and no other', async () => {
    const names = [
      'SVC_ENV',
      'SVC_REGION',
      'APP_ENV',
      'DEPLOYMENT_ENV',
      'PATH',
      'SECRET_THING',
      'SVC_MASTER_KEY',
    ]
    const template = names.map((name) => `{{env "${name}"}}`).join('|')
    expect(await rendered(template)).toBe('test|eu-1|blue||||')
    expect(await rendered('{{.Env}}')).toBe('map[APP_ENV:blue SVC_ENV:test SVC_REGION:eu-1]')
  })

  test('[esb-templates.json-functions] [esb-templates.text-functions] the seven functions', async () => {
    const body = JSON.stringify({ b: [1, 1e21, -0.5, '<é>"\n'], a: { z: null, y: true } })
    expect(await rendered('{{toJson .Data}}', body)).toBe(
      String.raw`{"a":{"y":true,"z":null},"b":[1,1e+21,-0.5,"\u003cé\u003e\"\n"]}`,
    )
    expect(await rendered('{{jsonEscape .Data.s}}', '{"s":"a\\"b\\n<"}')).toBe(String.raw`a\"b\n\u003c`)
    expect(await rendered('{{toString .Data.n}} {{toString .Data.x}}', '{"n":1000000}')).toBe('1e+06 <nil>')
    expect(await rendered('{{toUpper "straße é"}} {{toLower "ÀB"}}')).toBe('STRAßE É àb')
    expect(await rendered('{{now}}')).toBe('2026-11-15T08:09:10Z')
  })

  test('[esb-templates.input-unset] [esb-templates.content-type] bodies are read by their type, outputs get theirs', async () => {
    expect(await rendered('{{.Data.Body}}', 'plain <text>')).toBe('plain <text>')
    expect(await rendered('{{.Data.a}}', '{"a":1}')).toBe('1')
    expect(await rendered('{{.Data}}', '{', { inputMessageType: 'JSON' })).toMatch(/^the body is not JSON/)
    expect(await rendered('{{.Data.a.b}}', '<a><b>x</b></a>', { inputMessageType: 'SOAP' })).toBe('x')
    expect(await rendered('{{.Data}}', '<a>', { inputMessageType: 'XML' })).toMatch(/^the body is not XML/)
    for (const [outputMessageType, type] of [
      ['JSON', 'application/json'],
      ['XML', 'application/xml'],
      ['SOAP', 'text/xml; charset=utf-8'],
      [null, 'application/json'],
    ]) {
      const id = await makeEndpoint({ outputMessageType, transformationTemplate: 'x' })
      expect((await preview(id, { body: '' })).data.previewESBTransform.contentType).toBe(type)
    }
  })

  test('[esb-templates.unknown-function] [esb-templates.builtins-key] [esb-templates.builtins] other functions fail when the endpoint is saved', async () => {
    const save = (template: string, app: TestApp) =>
      app.query(
        admin,
        `mutation($id: ID!, $input: CreateEndpointInput!) { createEndpoint(applicationId: $id, input: $input) { id } }`,
        {
          id: project.applicationId,
          input: { name: 'x', consumeURL: `/s${++count}`, transformationTemplate: template },
        },
      )
    expect((await save('{{nothing .Data}}', service)).error).toMatch(
      /transformationTemplate cannot be parsed: template:1:3: function "nothing" not defined/,
    )
    expect((await save('{{if false}}{{len .Data}}{{end}}', service)).error).toMatch(
      /function "len" not defined; set esb\.template_builtins/,
    )
    const builtins = 'and or not eq ne lt le gt ge len index slice print printf println html js urlquery'
    for (const name of builtins.split(' ')) {
      expect([name, (await save(`{{if false}}{{${name} 1 1}}{{end}}`, open)).error]).toEqual([name, null])
      expect((await save(`{{${name} 1 1}}`, service)).error).toMatch(/esb\.template_builtins/)
    }
    expect((await save('{{call .x}}', open)).error).toMatch(/function "call" not defined/)
    expect((await save('{{.x', open)).error).toMatch(/cannot be parsed/)
  })

  test('[esb-templates.budget] a rendering takes 100,000 steps and not one more', async () => {
    // The range and its value count as two steps. Each iteration with its text also counts as two steps.
    const steps = (passes: number, after = '') =>
      rendered(`{{range .Data}}x{{end}}${after}`, JSON.stringify(Array(passes).fill(0)))
    const text = 'x'.repeat(49_999)
    expect(await steps(49_998, 'y')).toBe(`${text.slice(1)}y`)
    expect(await steps(49_999)).toBe(text)
    expect(await steps(49_999, 'y')).toMatch(/the step budget is exhausted/)
  })

  test('[esb-templates.budget] templates may be open 32 deep and not one more', async () => {
    /** Renders templates that are nested `open` levels deep, including the main template. */
    const nested = (open: number) => {
      const calls = Array.from(
        { length: open - 2 },
        (_, level) => `{{define "${level + 1}"}}{{template "${level + 2}"}}{{end}}`,
      )
      return rendered(`${calls.join('')}{{define "${open - 1}"}}bottom{{end}}{{template "1"}}`)
    }
    expect(await nested(32)).toBe('bottom')
    expect(await nested(33)).toMatch(/nested too deeply/)
  })

  test('[esb-templates.budget] the output has at most esb.max_request_bytes, and a template 64 KiB', async () => {
    const env = { SVC_ESB_MAX_REQUEST_BYTES: '2048' }
    const tight = await startTestApp({ env, database: service.database })
    const body = JSON.stringify({ text: 'x'.repeat(1_024) })
    const twice = '{{.Data.text}}{{.Data.text}}'
    expect(await rendered(twice, body, {}, tight)).toHaveLength(2_048)
    expect(await rendered(`${twice}y`, body, {}, tight)).toMatch(/output budget/)
    await tight.close()
    expect(await rendered('x'.repeat(65_536))).toHaveLength(65_536)
    expect(await rendered('x'.repeat(65_537))).toBe('transformationTemplate must be at most 65536 bytes long')
  })

  test('a template that fails says where', async () => {
    expect(await rendered('a\n{{.Data.x.y}}', '{"x":1}')).toMatch(
      /^the transformation template failed: template:2:\d+: /,
    )
  })

  test('templates with broken Unicode, and addresses that could be read in two ways, are refused', async () => {
    const save = async (input: Record<string, unknown>) =>
      (
        await service.query(
          admin,
          'mutation($id: ID!, $input: CreateEndpointInput!) { createEndpoint(applicationId: $id, input: $input) { id } }',
          { id: project.applicationId, input: { name: 'x', consumeURL: `/b${++count}`, ...input } },
        )
      ).error
    expect(await save({ transformationTemplate: 'a\ud800b' })).toMatch(/malformed Unicode/)
    for (const url of [
      'https://a.ex\nample/',
      'https://a/x y',
      'http:///a',
      'https://@a/',
      'https://a\\b',
      'https://a/#',
    ])
      expect([url, await save({ url })]).toEqual([url, expect.stringMatching(/^url must/)])
    expect(await save({ authUsername: 'a:b' })).toBe('authUsername must not contain a colon')
  })

  test('an error about a variable repeats no secret that stands beside it', async () => {
    const text =
      'mutation($id: ID!, $input: CreateEndpointInput!) { createEndpoint(applicationId: $id, input: $input) { id } }'
    for (const input of [
      { authPassword: 'pl4intext; Field "x"', unknown: 1 },
      { authToken: 'pl4intext', name: 'x' },
      { authPassword: ['pl4intext'], name: 'x', consumeURL: '/x' },
    ]) {
      const answers = [
        await service.query(admin, text, { id: project.applicationId, input }),
        await service.query(admin, text, { id: project.applicationId, input }),
      ]
      for (const { error, errors } of answers) {
        expect(error).not.toBeNull()
        expect(JSON.stringify(errors)).not.toContain('pl4intext')
      }
    }
  })
})
