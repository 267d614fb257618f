// Tests ids at every position of a document: any spelling of a UUID is accepted, and responses use the
// canonical spelling.
import { describe, expect, test } from 'vitest'
import { useProject } from './kit/project.ts'
import { seedTenant } from '@manager/harness/seed.ts'

const { service, admin, project } = useProject()

const other = (id: string): string => id.toUpperCase()

describe('an id in capitals', () => {
  test('[graphql.ids] names the thing in a literal, a variable, a default value and an input object', async () => {
    const { id, tenantSlug: slug, tenantId, applicationId } = project
    const ask = (text: string, variables?: Record<string, unknown>) => service.query(admin, text, variables)
    const answers = [
      await ask(`{ row: tenant(projectId: "${other(id)}", slug: "${slug}") { id } }`),
      await ask('query($p: ID!, $s: String!) { row: tenant(projectId: $p, slug: $s) { id } }', {
        p: other(id),
        s: slug,
      }),
      await ask(`query($p: ID = "${other(id)}") { row: tenant(projectId: $p, slug: "${slug}") { id } }`),
      await ask('mutation($id: ID!) { row: updateTenant(id: $id, input: {name: "New"}) { id } }', {
        id: other(tenantId),
      }),
    ]
    for (const { data, error } of answers) expect([data?.row, error]).toEqual([{ id: tenantId }, null])
    const second = crypto.randomUUID()
    await seedTenant(service.sql, id, second, 'second')
    const made = await ask(
      `mutation($input: CreateTenant2ApplicationInput!) {
        row: createTenant2Application(input: $input) { tenant { id } application { id } }
      }`,
      { input: { tenantId: other(second), applicationId: other(applicationId) } },
    )
    expect(made.data.row).toEqual({ tenant: { id: second }, application: { id: applicationId } })
  })
})

describe('a text that is no UUID', () => {
  test.each(['', 'x', '7', '{00000000-0000-0000-0000-000000000000}', 'urn:uuid:x', '\u{ff11}'])(
    '%j is found nowhere',
    async (id) => {
      const { error } = await service.query(
        admin,
        'mutation($id: ID!) { updateTenant(id: $id, input: {name: "New"}) { id } }',
        { id },
      )
      expect(error).toBe('tenant not found')
    },
  )

  test('a number is read as the text of its digits', async () => {
    const { error } = await service.query(
      admin,
      'mutation { updateTenant(id: 7, input: {name: "New"}) { id } }',
    )
    expect(error).toBe('tenant not found')
  })
})
