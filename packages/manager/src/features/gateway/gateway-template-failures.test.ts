// These tests check that the log contains the position at which a template failed, but never a value from the
// body.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Gateway, startGateway } from '../../../test/kit/gateway.ts'

let gateway: Gateway
let strict: TestApp
beforeAll(async () => {
  gateway = await startGateway({ env: { SVC_ESB_TEMPLATE_BUILTINS: 'true' } })
  const env = { SVC_ESB_TEMPLATE_MISSING_KEY: 'error' }
  strict = await startTestApp({ env, database: gateway.service.database })
})
afterAll(async () => {
  await strict.close()
  await gateway.close()
})

const failed = 'the transformation template of the endpoint failed; nothing was forwarded'

/** Calls an endpoint with the template. Returns the response and the log entry. */
async function outcomeOf(template: string, body: string, to = gateway.service) {
  const { id, path } = await gateway.endpoint({ url: gateway.upstream.url, transformationTemplate: template })
  const { status, error } = await gateway.send(path, { method: 'POST', body, to })
  const [row] = await gateway.logged(id)
  return { status, error, logged: [row?.response_status, row?.failure] }
}

test('[esb-templates.execution-error] [esb-audit.one-row] the log has the place, and no value of the body', async () => {
  const secret = 'my-secret'
  const list = Array.from({ length: 400 }, (_, i) => i)
  const body = JSON.stringify({ secret, large: 777_777, list })
  const failures = {
    '{\n  "a": {{.Data.secret.deeper}}\n}': '2:10',
    '{{.Data.list}}{{range $i, $e := .Data.large}}{{end}}': '1:17',
    '{{index .Data.secret 500}}': '1:3',
    '{{toUpper .Data.list}}': '1:11',
    '{{range .Data.list}}{{range $.Data.list}}x{{end}}{{end}}': '1:23: the step budget is exhausted',
    '{{define "t"}}{{template "t" .}}{{end}}{{template "t" .}}': '1:17: templates are nested too deeply',
  }
  for (const [template, place] of Object.entries(failures))
    expect([template, await outcomeOf(template, body)]).toEqual([
      template,
      { status: 500, error: failed, logged: [500, `the transformation template failed at ${place}`] },
    ])
  // Large bodies are rendered in a worker thread, with the same result.
  const large = JSON.stringify({ secret, fill: 'x'.repeat(20_000) })
  expect((await outcomeOf('{{.Data.secret.deeper}}', large)).logged).toEqual([
    500,
    'the transformation template failed at 1:3',
  ])
})

test('[esb-templates.execution-error] a template that can no longer be parsed says why in the log', async () => {
  const { logged } = await outcomeOf('{{len .Data}}', '{}', strict)
  expect(logged).toEqual([
    500,
    'the transformation template failed at 1:3: function "len" not defined; set esb.template_builtins to enable Go functions',
  ])
})

test('esb.template_missing_key: error fails the call when a key is missing, and default forwards it', async () => {
  gateway.upstream.reset()
  const missing = (place: string) => ({
    status: 500,
    error: failed,
    logged: [500, `the transformation template failed at ${place}: map has no entry for key "id"`],
  })
  expect(await outcomeOf('{{.Data.id}}', '{}', strict)).toEqual(missing('1:3'))
  expect(await outcomeOf('a\n{{if .Data.id}}b{{end}}', '{}', strict)).toEqual(missing('2:6'))
  expect(gateway.upstream.received).toEqual([])
  expect((await outcomeOf('{{.Data.id}}', '{"id": 7}', strict)).status).toBe(200)
  expect((await outcomeOf('{{.Data.id}}', '{}')).status).toBe(200)
  expect(gateway.upstream.received.map(({ body }) => body.toString())).toEqual(['7', '<no value>'])
})

test('a stored template with a name that templates do not know is rendered as it is', async () => {
  gateway.upstream.reset()
  const { id, path } = await gateway.endpoint({ url: gateway.upstream.url, transformationTemplate: 'x' })
  await gateway.service.sql.query(
    `update endpoints set transformation_template = '[{{.Dat}}]' where id = $1`,
    [id],
  )
  expect((await gateway.send(path, { method: 'POST', body: '{}' })).status).toBe(200)
  expect(gateway.upstream.received.map(({ body }) => body.toString())).toEqual(['[<no value>]'])
})
