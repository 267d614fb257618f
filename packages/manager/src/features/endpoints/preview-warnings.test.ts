// These tests cover the warnings of a preview about valid but suspicious templates, and the names that templates may
// read.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { endpointCalls, seedEndpoint } from '../../../test/kit/endpoints.ts'
import { useProject } from '../../../test/kit/project.ts'

const scene = useProject({ env: { SVC_ESB_TEMPLATE_BUILTINS: 'true' } })
const calls = endpointCalls(() => scene.service)
let strict: TestApp
beforeAll(async () => {
  const env = { SVC_ESB_TEMPLATE_MISSING_KEY: 'error', SVC_ESB_TEMPLATE_BUILTINS: 'true' }
  strict = await startTestApp({ env, database: scene.service.database })
})
afterAll(() => strict.close())

type Given = { body?: string; outputMessageType?: string | null; app?: TestApp }
/** Returns the preview of the template, and its error. */
async function preview(template: string | null, given: Given = {}) {
  const { body = '{}', outputMessageType = null, app = scene.service } = given
  const id = await seedEndpoint(scene.service.sql, scene.project)
  await scene.service.sql.query('update endpoints set output_message_type = $2 where id = $1', [
    id,
    outputMessageType,
  ])
  return previewOf(id, { body, transformationTemplate: template }, app)
}
async function previewOf(id: string, input: object, app = scene.service) {
  const { data, error } = await app.query(
    scene.admin,
    `mutation($id: ID!, $input: PreviewESBTransformInput!) {
      row: previewESBTransform(endpointId: $id, input: $input) { output warnings { message line column } }
    }`,
    { id, input },
  )
  return { error, ...(data?.row as { output: string; warnings: unknown[] } | undefined) }
}
const warningsOf = async (template: string, given?: Given) => (await preview(template, given)).warnings
const at = (line: number, column: number, message: string) => ({ message, line, column })
const ofOutput = (message: unknown) => [{ message, line: null, column: null }]

describe('warnings', () => {
  test('[esb-templates.preview] a key that the body lacks is named with its place, where it is written or given to a function', async () => {
    const template =
      '{"id": "{{.Data.id}}",\n "to": {{toJson .Data.to.name}}, "of": "{{.Data.of | toString}}"}'
    expect(await preview(template, { body: '{"to": {}}' })).toEqual({
      error: null,
      output: '{"id": "<no value>",\n "to": null, "of": "<nil>"}',
      warnings: [
        at(1, 11, '.Data.id is missing; it is rendered as <no value>'),
        at(2, 17, '.Data.to.name is missing; toJson receives nil'),
        at(2, 43, '.Data.of is missing; toString receives nil'),
      ],
    })
    expect(await warningsOf('{{.Data.a.b.c}}{{.Env.DEPLOYMENT_ENV}}')).toEqual([
      at(1, 3, '.Data.a is missing; it is rendered as <no value>'),
      at(1, 18, '.Env.DEPLOYMENT_ENV is missing; it is rendered as <no value>'),
    ])
  })

  test('null, and what a function returns nothing for, has no value', async () => {
    expect(await warningsOf('{{.Data.n}}{{index .Data "x"}}', { body: '{"n": null}' })).toEqual([
      at(1, 3, '.Data.n has no value; it is rendered as <no value>'),
      at(1, 14, 'index has no value; it is rendered as <no value>'),
    ])
    expect(await warningsOf('{{toJson .Data.n}}', { body: '{"n": null}' })).toEqual([])
  })

  test('asking whether something is there is no reason to warn', async () => {
    const template =
      '{{if .Data.a}}a{{end}}{{with .Data.a}}{{.b}}{{end}}{{range .Data.a}}{{.b}}{{end}}{{or .Data.a "b"}}{{.Data.c}}'
    expect(await warningsOf(template, { body: '{"c": ""}' })).toEqual([])
  })

  test('a place is named once, 20 of them at most, and long names are cut', async () => {
    const body = JSON.stringify(Array.from({ length: 50 }, () => ({})))
    const passes = '{{range .Data}}{{.x}}{{end}}'
    expect(await warningsOf(passes, { body })).toEqual([
      at(1, 18, '.x is missing; it is rendered as <no value>'),
    ])
    const many = Array.from({ length: 30 }, (_, i) => `{{.Data.k${i}}}`).join('\n')
    const all = await preview(many, { outputMessageType: 'JSON' })
    expect(all.warnings).toHaveLength(20)
    expect(all.warnings?.slice(1, 3)).toEqual([
      at(1, 3, '.Data.k0 is missing; it is rendered as <no value>'),
      at(2, 3, '.Data.k1 is missing; it is rendered as <no value>'),
    ])
    const long = `.Data.${'k'.repeat(1_000)}`
    expect(await warningsOf(`{{${long}}}`)).toEqual([
      at(1, 3, `${long.slice(0, 80)}… is missing; it is rendered as <no value>`),
    ])
  })

  test('output that is not of its declared type is named; without a type nothing is expected', async () => {
    const broken = { outputMessageType: 'JSON', body: '{"a": "x"}' }
    expect(await warningsOf('{"a": {{.Data.a}}}', broken)).toEqual(
      ofOutput(expect.stringMatching(/^the output is not JSON: Unexpected token 'x', .* is not valid JSON$/)),
    )
    expect(await warningsOf('{{if .Data.b}}{{end}}', broken)).toEqual(
      ofOutput('the output is not JSON: Unexpected end of JSON input'),
    )
    expect(await warningsOf('{"a": {{toJson .Data.a}}}', broken)).toEqual([])
    for (const outputMessageType of ['XML', 'SOAP']) {
      const bad = (template: string) => warningsOf(template, { outputMessageType })
      expect(await bad('<a>\n <b></a>')).toEqual(
        ofOutput(`the output is not ${outputMessageType}: unexpected close tag. (line 2, column 9)`),
      )
      expect(await bad('{}')).toEqual(ofOutput(expect.stringContaining(`is not ${outputMessageType}: `)))
      expect(await bad('<s:a/>')).toEqual(ofOutput(expect.stringMatching(/unbound namespace prefix/)))
      const long = await bad(`<${'s'.repeat(1_000)}:a/>`)
      expect(long).toEqual(ofOutput(expect.stringMatching(/^the output is not .{280,283}…$/)))
      expect(await bad('<?xml version="1.0"?><s:a xmlns:s="urn:s" b="1">&lt;<c/></s:a>')).toEqual([])
    }
    expect(await warningsOf('{"a": x', { body: '{}' })).toEqual([])
  })

  test('a number that is written with an exponent is named, with how to write it without one', async () => {
    const body = '{"n": 1000000, "m": [0.00001, 2.5e7], "huge": 1e21, "small": 999999, "text": "1e+06"}'
    const plain = (number: string, text: string) =>
      `the number ${number} is rendered as ${text}; use toJson to render it without an exponent`
    expect(
      await preview('{{.Data.n}} {{.Data.m}}\n{{toString .Data.n}} {{print .Data.n}}', { body }),
    ).toEqual({
      error: null,
      output: '1e+06 [1e-05 2.5e+07]\n1e+06 1e+06',
      warnings: [
        at(1, 3, plain('1000000', '1e+06')),
        at(1, 15, plain('0.00001', '1e-05')),
        at(2, 3, plain('1000000', '1e+06')),
        at(2, 24, plain('1000000', '1e+06')),
      ],
    })
    const written =
      '{{toJson .Data.n}} {{toJson .Data.m}} {{.Data.small}} {{.Data.text}} {{printf "%.0f" .Data.n}}'
    expect(await preview(written, { body })).toEqual({
      error: null,
      output: '1000000 [0.00001,25000000] 999999 1e+06 1000000',
      warnings: [],
    })
    expect(await warningsOf('{{.Data.huge}}{{toJson .Data.huge}}', { body })).toEqual([
      at(1, 3, 'a number is rendered as 1e+21; send it as a string to keep all its digits'),
      at(1, 17, 'a number is rendered as 1e+21; send it as a string to keep all its digits'),
    ])
    const large = JSON.stringify({ n: 1e6, fill: 'x'.repeat(20_000) })
    expect(await warningsOf('{{.Data.n}}', { body: large })).toEqual([at(1, 3, plain('1000000', '1e+06'))])
  })

  test('a large body has the same warnings', async () => {
    const body = JSON.stringify({ fill: 'x'.repeat(20_000) })
    expect(await warningsOf('{{.Data.id}}', { body, outputMessageType: 'JSON' })).toEqual([
      ...ofOutput(expect.stringContaining('the output is not JSON: ')),
      at(1, 3, '.Data.id is missing; it is rendered as <no value>'),
    ])
  })

  test('JSON of too many lists and objects is not checked', async () => {
    const given = { outputMessageType: 'JSON', body: JSON.stringify('[],'.repeat(400)) }
    const template = `{{define "r"}}${'{{.}}'.repeat(50)}{{end}}${'{{template "r" .Data}}'.repeat(60)}`
    expect(await warningsOf(template, given)).toEqual(
      ofOutput('the output was not checked: it has more than 1000000 lists and objects'),
    )
  })
})

test("{{env 'KEY'}} is refused with a hint about double quotes, when it is saved and in a preview", async () => {
  const transformationTemplate = "{{env 'SVC_ENV'}}"
  const input = { name: 'x', consumeURL: '/quotes', transformationTemplate }
  const problem =
    "transformationTemplate cannot be parsed: template:1:7: malformed character constant: 'SVC_ENV'; write text in double quotes"
  const errors = [
    (await calls.create(scene.admin, scene.project.applicationId, input)).error,
    (await preview(transformationTemplate)).error,
  ]
  expect(errors.map((error) => error?.split('\n')[0])).toEqual([problem, problem])
  expect((await preview('{{env "SVC_ENV"}}')).output).toBe('test')
})

describe('esb.template_missing_key', () => {
  test('error makes a missing key an error of the preview, where it is only asked for too', async () => {
    for (const template of ['{{.Data.id}}', '{{if .Data.id}}a{{end}}', '{{toJson .Data.id}}'])
      expect((await preview(template, { app: strict })).error).toMatch(
        /^the transformation template failed: template:1:\d+: map has no entry for key "id"\n/,
      )
    expect(await preview('{{.Data.id}}', { app: strict, body: '{"id": 1}' })).toEqual({
      error: null,
      output: '1',
      warnings: [],
    })
  })
})

describe('names that templates know', () => {
  const firsts = '.Data, .Application, .Endpoint, .User, .Meta, .Env'
  const unknown: [template: string, place: string, name: string, others: string][] = [
    ['{{.Dat.id}}', '1:3', '.Dat', firsts],
    ['{{.data}}', '1:3', '.data', firsts],
    ['a\n {{$.Dat}}', '2:4', '.Dat', firsts],
    ['{{if .Data}}{{else}}{{.constructor}}{{end}}', '1:23', '.constructor', firsts],
    ['{{range .Data}}{{$.Dta}}{{end}}', '1:18', '.Dta', firsts],
    [
      '{{.Application.Nam}}',
      '1:3',
      '.Application.Nam',
      '.Application.ID, .Application.Name, .Application.Slug, .Application.Description',
    ],
    [
      '{{.Endpoint.Url}}',
      '1:3',
      '.Endpoint.Url',
      '.Endpoint.ID, .Endpoint.Name, .Endpoint.ConsumeURL, .Endpoint.URL, .Endpoint.Description',
    ],
    ['{{.User.Email}}', '1:3', '.User.Email', '.User.ID, .User.Username, .User.Name'],
    ['{{toJson .Meta.Time}}', '1:10', '.Meta.Time', '.Meta.Timestamp, .Meta.RequestTime'],
    ['{{.Env.PATH}}', '1:3', '.Env.PATH', '.Env.SVC_ENV, .Env.SVC_REGION, .Env.APP_ENV, .Env.DEPLOYMENT_ENV'],
  ]

  test('another one is refused when an endpoint is created or changed, and in a preview', async () => {
    const id = await seedEndpoint(scene.service.sql, scene.project)
    for (const [index, [transformationTemplate, place, name, others]] of unknown.entries()) {
      const input = { name: 'x', consumeURL: `/n${index}`, transformationTemplate }
      const problem = `transformationTemplate cannot be used: template:${place}: ${name} is not available to templates; use one of ${others}`
      const errors = [
        (await calls.create(scene.admin, scene.project.applicationId, input)).error,
        (await calls.update(scene.admin, id, { transformationTemplate })).error,
        (await preview(transformationTemplate)).error,
      ]
      expect(errors.map((error) => error?.split('\n')[0])).toEqual([problem, problem, problem])
    }
  })

  test('what a template knows, and what nobody can know beforehand, is accepted', async () => {
    const known = [
      ...['ID', 'Name', 'Slug', 'Description'].map((name) => `{{.Application.${name}}}`),
      ...['ID', 'Name', 'ConsumeURL', 'URL', 'Description'].map((name) => `{{.Endpoint.${name}}}`),
      ...['ID', 'Username', 'Name'].map((name) => `{{.User.${name}}}`),
      '{{.Meta.Timestamp}}{{.Meta.RequestTime.Year}}{{.Data}}{{.Application}}{{$.Data.anything.at.all}}{{.}}',
      '{{.Env.SVC_ENV}}{{if .Env.SVC_REGION}}{{end}}{{if .Env.APP_ENV}}{{end}}{{if .Env.DEPLOYMENT_ENV}}{{end}}',
      '{{with .Data}}{{.x}}{{end}}{{range .Data}}{{.x}}{{end}}{{$d := .Data}}{{$d.x}}',
      '{{define "d"}}{{.x}}{{end}}{{template "d" .Data}}',
    ]
    expect(await preview(known.join(''), { body: '{"a": {}}' })).toMatchObject({
      error: null,
    })
    // Every predefined name has a value.
    expect(await warningsOf(known.slice(0, 12).join(''))).toEqual([])
  })

  test('a template that is stored already stays, and other fields of its endpoint can be changed', async () => {
    const id = await seedEndpoint(scene.service.sql, scene.project)
    const old = '{{.Dat}}{{nothing}}'
    await scene.service.sql.query('update endpoints set transformation_template = $2 where id = $1', [
      id,
      old,
    ])
    expect((await calls.update(scene.admin, id, { name: 'renamed' })).error).toBeNull()
    const same = await calls.update(scene.admin, id, { name: 'again', transformationTemplate: old })
    expect(same.data.row).toMatchObject({ name: 'again', transformationTemplate: old })
    expect((await calls.update(scene.admin, id, { transformationTemplate: `${old} ` })).error).toMatch(
      /cannot be parsed/,
    )
    expect((await previewOf(id, { body: '{}' })).error).toMatch(/cannot be parsed/)
  })
})
