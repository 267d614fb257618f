// Tests rules for the whole API: its enums, names and paths.
import { describe, expect, test } from 'vitest'
import { seedEndpoint } from './kit/endpoints.ts'
import { useProject } from './kit/project.ts'
import { routesOf } from './kit/routes.ts'
import { seedAccessToken, seedMachineUser } from '@manager/harness/seed.ts'
import { seedTrigger } from './kit/triggers.ts'

const { service, admin, project } = useProject()

type Input = { name: string; type: { name: string | null; ofType: { name: string | null } | null } }
type Type = {
  name: string
  kind: string
  inputFields: Input[] | null
  fields: { name: string; args: Input[] }[] | null
}
async function types(): Promise<Type[]> {
  const inputs = 'name type { name ofType { name } }'
  const { data } = await service.query(
    admin,
    `{ schema: __schema { types { name kind inputFields { ${inputs} } fields(includeDeprecated: true) { name args { ${inputs} } } } } }`,
  )
  return data.schema.types as Type[]
}

describe('the interface', () => {
  test('[graphql.only-enums] only the listed enums are enums', async () => {
    const enums = (await types()).filter(({ kind, name }) => kind === 'ENUM' && !name.startsWith('__'))
    const listed = `EndpointAuthType EndpointInputMessageType EndpointLogLevel EndpointOutputMessageType OrderDirection`
    // Enums for the arguments of policy directives, which callers neither send nor receive.
    const ofDirectives = ['Permission', 'Scope']
    expect(
      enums
        .map(({ name }) => name)
        .filter((name) => !ofDirectives.includes(name))
        .toSorted(),
    ).toEqual(listed.split(' '))
    const used = (await types()).flatMap(({ inputFields, fields }) => [
      ...(inputFields ?? []),
      ...(fields ?? []).flatMap(({ args }) => args),
    ])
    for (const { type } of used) expect(ofDirectives).not.toContain(type.name ?? type.ofType?.name)
  })

  test('[graphql.names] whatever is given a name takes 1 to 100 characters, and no others', async () => {
    const { id, tenantId, applicationId, environmentId } = project
    let count = 0
    const slug = (): string => `n${++count}`
    const role = await service.query(
      admin,
      `mutation { row: createTenantRoleDefinition(tenantId: "${tenantId}", input: {name: "r", permissions: []}) { id } }`,
    )
    const machineUserId = (await seedMachineUser(service.sql, project)).id
    const endpointId = await seedEndpoint(service.sql, project)
    const triggerId = await seedTrigger(service.sql, project)
    await seedAccessToken(service.sql, admin)
    /** One call for each mutation with a name argument. */
    const calls: Record<string, (name: string) => string> = {
      createProject: (name) => `(input: {${name}, slug: "${slug()}"}) { id }`,
      updateProject: (name) => `(id: "${id}", input: {${name}}) { id }`,
      createTenant: (name) => `(projectId: "${id}", input: {${name}, slug: "${slug()}"}) { id }`,
      updateTenant: (name) => `(id: "${tenantId}", input: {${name}}) { id }`,
      createApplication: (name) => `(projectId: "${id}", input: {${name}, slug: "${slug()}"}) { id }`,
      updateApplication: (name) => `(id: "${applicationId}", input: {${name}}) { id }`,
      createTenantRoleDefinition: (name) =>
        `(tenantId: "${tenantId}", input: {${name}, permissions: []}) { id }`,
      updateTenantRoleDefinition: (name) => `(id: "${role.data.row.id}", input: {${name}}) { id }`,
      createEndpoint: (name) =>
        `(applicationId: "${applicationId}", input: {${name}, consumeURL: "/${slug()}"}) { id }`,
      updateEndpoint: (name) => `(id: "${endpointId}", input: {${name}}) { id }`,
      createTrigger: (name) =>
        `(applicationId: "${applicationId}", input: {${name}, cronExpression: "@daily"}) { id }`,
      updateTrigger: (name) => `(id: "${triggerId}", input: {${name}}) { id }`,
      createMachineUserWithCredentials: (name) =>
        `(environmentId: "${environmentId}", input: {${name}, hashedKey: "__GENERATE_TOKEN__"}) { generatedToken }`,
      updateMachineUser: (name) => `(id: "${machineUserId}", input: {${name}}) { id }`,
      createPersonalAccessToken: (name) => `(${name}) { token }`,
      createScimToken: (name) => `(${name}) { token }`,
    }
    const all = await types()
    const takesName = ({ name, type }: Input): boolean =>
      name === 'name' ||
      (all.find((other) => other.name === (type.name ?? type.ofType?.name))?.inputFields ?? []).some(
        takesName,
      )
    const mutations = all.find(({ name }) => name === 'Mutation')?.fields ?? []
    // Pilet mutations refer to existing uploads by name and do not assign names.
    const named = mutations
      .filter(({ name, args }) => args.some(takesName) && !name.endsWith('PiletPackage'))
      .map(({ name }) => name)
    // The name of a language pack is a locale, which has its own format.
    expect(named.toSorted()).toEqual([...Object.keys(calls), 'createLanguagePack'].toSorted())
    for (const [index, [mutation, call]] of Object.entries(calls).entries()) {
      const errorFor = async (name: string) =>
        (await service.query(admin, `mutation { ${mutation}${call(`name: "${name}"`)} }`)).error
      // Use a different letter for each mutation: role names must be unique.
      const letter = String.fromCodePoint(0x1_d4b0 + index)
      const good = [letter, letter.repeat(100)]
      for (const name of good) expect([mutation, name, await errorFor(name)]).toEqual([mutation, name, null])
      for (const name of ['', 'b'.repeat(101), '   '])
        expect([mutation, name, await errorFor(name)]).toEqual([
          mutation,
          name,
          'name must have 1 to 100 characters',
        ])
    }
  })

  test('[versioning.rest-paths] no route has a version in its path', () => {
    const paths = routesOf(service).map(({ name }) => name)
    expect(paths).toContain('POST /query')
    // `/scim/v2` is the version of the protocol, which RFC 7644 puts into the path.
    for (const path of paths.filter((one) => !one.includes('/scim/v2/')))
      expect(path).not.toMatch(/\/v?\d+(\.\d+)*(\/|$)/i)
  })
})
