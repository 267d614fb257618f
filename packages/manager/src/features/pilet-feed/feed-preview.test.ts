// These tests compare the preview of a feed with the feed that browsers load.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedMember } from '@manager/harness/seed.ts'
import { requestThroughProxy } from '../../../test/kit/cached-responses.ts'
import { addPackages, setLayer, sha256, signingOf } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, project, other, person, member } = useProject({ withOther: true })

const fields = ['name', 'version', 'link', 'hash', 'integrity', 'spec', 'keyId'] as const
const preview = (
  caller: Person,
  { applicationId }: Pick<SeededProject, 'applicationId'>,
  tenantId?: string,
) =>
  service.query(
    caller,
    `query($applicationId: ID!, $tenantId: ID) {
      items: piletFeedPreview(applicationId: $applicationId, tenantId: $tenantId) { ${fields.join(' ')} origin }
    }`,
    { applicationId, tenantId },
  )
/** Returns the items that a browser loads, with the fields of the preview. */
async function feedAt(path: string): Promise<Record<string, unknown>[]> {
  const { body } = await requestThroughProxy(service, `/pilet-feed/${path}`)
  const { items } = JSON.parse(body) as { items: Record<string, unknown>[] }
  return items.map((item) => Object.fromEntries(fields.map((field) => [field, item[field] ?? null])))
}

describe('piletFeedPreview', () => {
  test('[pilet-feed.preview] returns the items of the feed, and why each version is in it', async () => {
    const reader = await member('reader', 'readonly')
    const bytes = Buffer.from('//@pilet v:3\nexport default 1\n')
    const about = { projectId: project.id, name: '@acme/menu', version: '2.0.0', hash: sha256(bytes) }
    const signature = await signingOf(service).sign(bytes, about)
    await addPackages(service.sql, project.id, [
      { name: '@acme/menu', version: '2.0.0', bytes, spec: 'v3', signature },
      { name: 'cart', version: '1.0.0' },
      { name: 'cart', version: '1.1.0' },
      { name: 'cart', version: '3.0.0', enabled: false },
      { name: 'unused', version: '1.0.0' },
    ])
    await setLayer(service.sql, project, 'application', { modules: ['cart', '@acme/menu', 'missing'] })
    await setLayer(service.sql, project, 'tenant', { pairs: { 'pilets.pins': '{"cart":"1.0.0"}' } })
    const { applicationId, tenantId } = project
    const shared = await feedAt(applicationId)
    expect(shared.map(({ name, version }) => `${String(name)} ${String(version)}`)).toEqual([
      '@acme/menu 2.0.0',
      'cart 1.1.0',
    ])
    expect((await preview(reader, project)).data.items).toEqual(
      shared.map((item) => ({ ...item, origin: 'highest' })),
    )
    const inTenant = await feedAt(`${applicationId}/${tenantId}`)
    expect((await preview(reader, project, tenantId)).data.items).toEqual(
      inTenant.map((item) => ({ ...item, origin: item['name'] === 'cart' ? 'pin' : 'highest' })),
    )
    expect(inTenant[1]).toMatchObject({ name: 'cart', version: '1.0.0', keyId: null })
    // A change is visible immediately, as in the feed.
    await service.sql.query("update pilet_packages set enabled = true where version = '3.0.0'")
    expect((await preview(reader, project)).data.items[1].version).toBe('3.0.0')
  })

  test('[pilet-feed.preview] of an application without pilets is empty', async () => {
    const owner = await person('other-owner')
    await seedMember(service.sql, owner, 'owner', { projectId: other.id })
    expect((await preview(owner, other)).data.items).toEqual([])
    expect((await preview(owner, other, other.tenantId)).data.items).toEqual([])
  })

  test('[pilet-feed.preview] needs a role in the project, and a tenant for which the application is enabled', async () => {
    const developer = await member('developer', 'developer')
    for (const tenantId of [other.tenantId, randomUUID(), 'nonsense', '']) {
      const { error, errors } = await preview(developer, project, tenantId)
      expect([tenantId, error, errors[0]?.extensions?.code]).toEqual([
        tenantId,
        'the application is not enabled for this tenant',
        'not_found',
      ])
    }
    expect((await preview(developer, other)).error).toBe('application not found')
    expect((await preview(developer, { applicationId: 'nonsense' })).error).toBe('application not found')
    const tenantMember = await person('tenant-member')
    await seedMember(service.sql, tenantMember, 'owner', {
      projectId: project.id,
      tenantId: project.tenantId,
    })
    expect((await preview(tenantMember, project, project.tenantId)).error).toBe('application not found')
    const applicationUser = await person('application-user')
    const inApplication = { projectId: project.id, applicationId: project.applicationId }
    await seedMember(service.sql, applicationUser, 'normal', inApplication)
    expect((await preview(applicationUser, project)).error).toMatch(/^not permitted/)
    await service.sql.query('update tenant2applications set enabled = false where id = $1', [
      project.tenant2ApplicationId,
    ])
    expect((await preview(developer, project, project.tenantId)).error).toBe(
      'the application is not enabled for this tenant',
    )
  })
})
