// Tests that error messages stay short, whatever the request contains.
import { describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { fill, filter, filters, hostileTexts, mebibyte } from '@manager/harness/hostile-texts.ts'
import { useProject } from './kit/project.ts'

const { service, admin, project } = useProject({ slug: 'texts' })

async function post(body: object) {
  const response = await fetch(`${service.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(admin) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text }
}

describe('hostile texts', () => {
  test.each(Object.keys(hostileTexts))('%s is refused briefly', async (name) => {
    const answer = await post(hostileTexts[name] as object)
    expect(answer.status).toBe(400)
    expect(answer.text.length).toBeLessThan(20_000)
  })

  test('what is wrong is still said: the place and the rule, and never the value', async () => {
    const secret = 'hunter2'
    const cases: [string, object, string][] = [
      [
        filters,
        { f: [filter, { field: 'name', value: { secret } }] },
        'Variable "$f" got an invalid value at "f[1].value"; String cannot represent a non string value',
      ],
      [
        filters,
        { f: { ...filter, valeu: secret } },
        'Variable "$f" got an invalid value; Field "valeu" is not defined by type "Filter".',
      ],
      [filters, { f: secret }, 'Variable "$f" got an invalid value; Expected type "Filter" to be an object.'],
      [
        filters,
        { f: { field: secret } },
        'Variable "$f" got an invalid value; Field "value" of required type "String!" was not provided.',
      ],
      [
        'query($s: String!) { project(slug: $s) { id } }',
        {},
        'Variable "$s" of required type "String!" was not provided.',
      ],
      [
        'query($s: String!) { project(slug: $s) { id } }',
        { s: null },
        'Variable "$s" of non-null type "String!" must not be null.',
      ],
      [`{ project(slug: {a: "${secret}"}) { id } }`, {}, 'String cannot represent a non string value'],
      [`{ projects(pagination: "${secret}") { id } }`, {}, 'Expected value of type "Pagination"'],
      [
        `{ projects(order: {field: "id", direction: "${secret}"}) { id } }`,
        {},
        'Enum "OrderDirection" cannot represent non-enum value',
      ],
      ['{ me { idd } }', {}, 'Cannot query field "idd" on type "User". Did you mean "id"?'],
    ]
    for (const [query, variables, message] of cases) {
      const { status, errors } = await service.query(admin, query, variables as Record<string, unknown>)
      expect([query, status, errors[0]?.message]).toEqual([query, 400, message])
      expect(JSON.stringify(errors)).not.toContain(secret)
    }
  })

  test('nor is a value said that stands beside a null where none may be', async () => {
    const text =
      'query($v: String = "x") { projects(filters: [{field: "hunter2", value: "hunter2"}, {field: "name", value: $v}]) { id } }'
    const { errors } = await service.query(admin, text, { v: null })
    expect(errors.map(({ message }) => message)).toEqual(['Argument "filters" has invalid value'])
  })

  test('what services say of a long text is cut too', async () => {
    const long = fill('x', 2 * mebibyte)
    const settings = await service.query(admin, 'query($p: ID!) { settings(project: $p) { id } }', {
      p: project.id,
    })
    const answers = [
      await service.query(admin, filters, { f: { field: long, value: 'x' } }),
      await service.query(
        admin,
        'mutation($t: ID!, $u: ID!, $r: String!) { addUserToTenant(tenantID: $t, userID: $u, roleName: $r) { id } }',
        { t: project.tenantId, u: admin.id, r: long },
      ),
      await service.query(
        admin,
        'mutation($id: ID!, $i: UpdateBackendModuleConfigInput!) { updateBackendModuleConfig(id: $id, input: $i) { id } }',
        { id: settings.data.settings.id, i: { EnabledModules: [long.slice(0, 1e6), long.slice(0, 1e6)] } },
      ),
    ]
    for (const { errors } of answers)
      expect(errors.map(({ extensions, message }) => [extensions?.code, message.length < 600])).toEqual([
        ['bad_request', true],
      ])
  })

  test('a null for what must not be null is the fault of the caller, also where a default hides it', async () => {
    const answer = await service.query(admin, 'query($s: String = "x") { project(slug: $s) { id } }', {
      s: null,
    })
    expect(answer.errors.map(({ extensions }) => extensions?.code)).toEqual(['bad_request'])
  })
})
