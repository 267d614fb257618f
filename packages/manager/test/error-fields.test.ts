// Tests that one error names every invalid value of an input: in mutations, list arguments, variables and REST bodies.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { bearer, call, throughProxy } from '@manager/harness/credentials.ts'
import { type GraphqlAnswer, postBody } from '@manager/harness/graphql.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { createBrokenInputs, hostileTexts, marker, secretPaths } from './kit/broken-inputs.ts'
import { targetFields, emit } from './kit/comms.ts'
import { useProject } from './kit/project.ts'

type Problem = { path: string; message: string }
const { service, admin, project } = useProject()
let machineToken: string
beforeAll(async () => {
  machineToken = (await seedMachineUser(service.sql, project)).token
})

const cases = createBrokenInputs({ service, admin, project })

async function run(name: string, args: Record<string, [string, unknown]>): Promise<GraphqlAnswer> {
  const definitions = Object.entries(args).map(([arg, [type]]) => `$${arg}: ${type}`)
  const values = Object.keys(args).map((arg) => `${arg}: $${arg}`)
  const variables = Object.fromEntries(Object.entries(args).map(([arg, [, value]]) => [arg, value]))
  return service.query(
    admin,
    `mutation(${definitions.join(', ')}) { ${name}(${values.join(', ')}) { __typename } }`,
    variables,
  )
}
const fieldsOf = ({ errors }: GraphqlAnswer): Problem[] =>
  (errors[0]?.extensions as { fields?: Problem[] } | undefined)?.fields ?? []
const pathsOf = (problems: readonly Problem[] | undefined): string[] =>
  (problems ?? []).map(({ path }) => path)

describe('a mutation', () => {
  test.each(Object.entries(cases))(
    '[errors.fields] %s names every invalid field, and never repeats a secret',
    async (name, { args, paths }) => {
      for (const text of hostileTexts) {
        const answer = await run(name, await args(text))
        const fields = fieldsOf(answer)
        expect([name, pathsOf(fields)]).toEqual([name, paths])
        expect(answer.errors).toHaveLength(1)
        expect(answer.errors[0]?.extensions?.code).toBe('bad_request')
        // The error message is that of the first problem, and no message is longer than the limit.
        expect(fields[0]?.message).toBe(answer.error)
        for (const { message } of fields) expect(message.length).toBeLessThanOrEqual(501)
        const secret = fields.filter(({ path }) => secretPaths.test(path))
        expect(JSON.stringify(secret)).not.toContain(marker)
      }
    },
  )

  test('names the field of a value that is taken', async () => {
    const create = (slug: string) =>
      service.query(admin, `mutation { createProject(input: {name: "n", slug: "${slug}"}) { id } }`)
    expect((await create('taken')).error).toBeNull()
    const second = await create('taken')
    expect(second.errors[0]?.extensions?.code).toBe('conflict')
    expect(fieldsOf(second)).toEqual([{ path: 'input.slug', message: second.error }])
  })
})

describe('arguments', () => {
  test('[errors.fields] of a list are named together', async () => {
    const answer = await service.query(
      admin,
      'query($f: [Filter!], $o: [Order!]) { projects(filters: $f, order: $o, pagination: {limit: 7, offset: -1}) { id } }',
      {
        f: [
          { field: 'secret', value: '' },
          { field: 'id', value: 'x' },
          { field: 'name', value: 'fine' },
        ],
        o: [{ field: 'id' }, { field: 'nope' }],
      },
    )
    expect(pathsOf(fieldsOf(answer))).toEqual([
      'pagination.limit',
      'pagination.offset',
      'filters.0.field',
      'filters.1.value',
      'order.1.field',
    ])
    expect(answer.error).toBe('pagination limit must be one of 1, 10, 20, 25, 50, 100')
  })

  test('of the wrong type have a path from the argument, each in its own error', async () => {
    const { errors } = await service.query(
      admin,
      'mutation($p: ID!, $in: CreateTenantInput!) { createTenant(projectId: $p, input: $in) { id } }',
      { in: { name: 1, slug: ['a'], wrong: true } },
    )
    const paths = errors.map((error) => pathsOf((error.extensions as { fields?: Problem[] }).fields))
    expect(paths).toEqual([['projectId'], ['input.name'], ['input.slug'], ['input']])
    const nested = await service.query(
      admin,
      'query($v: String!) { projects(filters: [{field: "id", value: $v}]) { id } }',
      { v: 1 },
    )
    expect(pathsOf(fieldsOf(nested))).toEqual(['filters.0.value'])
  })
})

describe('a REST body', () => {
  const register = (body: object) =>
    call(service.url, '/api/machine/register-backend', bearer(machineToken), body)

  test('[errors.fields] of the shape {error} lists the fields that do not match the schema, then those that break a rule', async () => {
    const malformed = await emit(service, machineToken, { application_id: 'x', title: 1, severity: 'loud' })
    expect(pathsOf(malformed.body.details)).toEqual(['application_id', 'tenant_id', 'title', 'severity'])
    expect(malformed.body.details[0]).toEqual({ path: 'application_id', message: malformed.body.error })
    const invalid = await emit(service, machineToken, {
      ...targetFields(project),
      roles: ['member', ''],
      type: '..',
      link: 'ftp://x',
      expires_at: 'soon',
      dedupe_key: '',
    })
    expect(invalid.status).toBe(400)
    expect(pathsOf(invalid.body.details)).toEqual(['roles.1', 'type', 'link', 'expires_at', 'dedupe_key'])
  })

  test('[errors.fields] names the invalid entries of a list, at most 50', async () => {
    const send = (recipients: string[]) =>
      emit(service, machineToken, { ...targetFields(project), recipients })
    const mixed = await send(['x', randomUUID(), 'x'.repeat(10_000)])
    expect(pathsOf(mixed.body.details)).toEqual(['recipients.0', 'recipients.2'])
    const many = await send(Array.from({ length: 1_000 }, () => 'x'))
    expect(many.body.details).toHaveLength(50)
    expect(JSON.stringify(many.body).length).toBeLessThan(10_000)
    // A list that is too long causes a single problem, even if its items are invalid too.
    expect(pathsOf((await send(Array.from({ length: 1_001 }, () => 'x'))).body.details)).toEqual([
      'recipients',
    ])
  })

  test('[errors.fields] of the shape {success, message} keeps its fixed text, and details name the rule', async () => {
    expect(pathsOf((await register({})).body.details)).toEqual(['application_id', 'callback_url'])
    const target = { application_id: project.applicationId, callback_url: 'http://127.0.0.1/' }
    const refused = await register(target)
    expect(refused.body).toMatchObject({ success: false, message: 'Invalid callback_url' })
    expect(refused.body.details).toEqual([{ path: 'callback_url', message: refused.body.hint }])
    const both = await register({ ...target, version: '\u0000' })
    expect(pathsOf(both.body.details)).toEqual(['version', 'callback_url'])
  })

  test('[errors.fields] of the shape {valid, message} lists details', async () => {
    const { body } = await call(service.url, '/api/validate-oauth-user', throughProxy(), { email: 1 })
    expect(body).toMatchObject({ valid: false, code: 'bad_request' })
    expect(pathsOf(body.details)).toEqual(expect.arrayContaining(['user_id', 'email', 'application_id']))
  })

  test('of a GraphQL request that is malformed lists fields', async () => {
    const { body } = await postBody(service.url, headersOf(admin), '{"query":1,"operationName":"-"}')
    const [error] = body['errors'] as { extensions: { fields: Problem[] } }[]
    expect(pathsOf(error?.extensions.fields)).toEqual(['query', 'operationName'])
  })
})
