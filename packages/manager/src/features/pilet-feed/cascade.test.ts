// These tests compare the SQL cascade of settings with the implementation in settings/layers.pure.ts.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { requestThroughProxy } from '../../../test/kit/cached-responses.ts'
import { type Layer, addPackages, setLayer } from '../../../test/kit/pilet-rows.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedTenant } from '@manager/harness/seed.ts'
import {
  type Layers,
  fillBackendDefaults,
  fillFrontendDefaults,
  mergeLayers,
} from '../settings/layers.pure.ts'

const names = ['a', 'b', '@acme/c']
const versions = ['1.0.0', '2.0.0', '3.0.0-rc']

const { service, project } = useProject()
const [secondTenant, secondApplication] = [randomUUID(), randomUUID()]
beforeAll(async () => {
  await seedTenant(service.sql, project.id, secondTenant, 'second')
  await service.sql.query(
    `insert into applications (id, project_id, name, slug) values ($1, $2, 'second', 'second')`,
    [secondApplication, project.id],
  )
  await service.sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, t.id, a.id, true from tenants t, applications a on conflict do nothing`,
    [project.id],
  )
  await addPackages(
    service.sql,
    project.id,
    names.flatMap((name) => versions.map((version) => ({ name, version }))),
  )
})

type Values = { modules: string[]; pins: Record<string, string> | null }

const anyValues: fc.Arbitrary<Values> = fc.record({
  modules: fc.oneof(fc.constant<string[]>([]), fc.subarray([...names, 'unknown'])),
  pins: fc.option(
    fc.dictionary(fc.constantFrom(...names), fc.constantFrom(...versions, '9.9.9'), { maxKeys: 2 }),
  ),
})
const owners = {
  tenants: () => [project.tenantId, secondTenant],
  applications: () => [project.applicationId, secondApplication],
}
const slots = ['project', 'a0', 'a1', 't0', 't1', 't0a0', 't0a1', 't1a0', 't1a1']
const anyScene = fc.record({
  layers: fc.record(
    Object.fromEntries(slots.map((slot) => [slot, anyValues])) as Record<string, typeof anyValues>,
  ),
  enabled: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
})
/** The layers of two tenants and two applications, and whether each application is enabled in each tenant. */
type AnyScene = { layers: Record<string, Values>; enabled: boolean[] }

const layerOfSlot = (slot: string): Layer => {
  if (slot === 'project') return 'project'
  if (slot.startsWith('a')) return 'application'
  return slot.length === 2 ? 'tenant' : 'tenant2application'
}
const pairsOf = (pins: Values['pins']): Record<string, string> =>
  pins === null ? { other: 'x' } : { other: 'x', 'pilets.pins': JSON.stringify(pins) }

async function store({ layers, enabled }: AnyScene): Promise<void> {
  for (const [slot, { modules, pins }] of Object.entries(layers)) {
    const tenantId = owners.tenants()[Number(/t(\d)/.exec(slot)?.[1] ?? 0)] as string
    const applicationId = owners.applications()[Number(/a(\d)/.exec(slot)?.[1] ?? 0)] as string
    const owner = { id: project.id, tenantId, applicationId }
    await setLayer(service.sql, owner, layerOfSlot(slot), { modules, pairs: pairsOf(pins) })
  }
  for (const [index, isEnabled] of enabled.entries())
    await service.sql.query(
      'update tenant2applications set enabled = $3 where tenant_id = $1 and application_id = $2',
      [owners.tenants()[index >> 1], owners.applications()[index & 1], isEnabled],
    )
}

/** Merges the settings of an application with layers.pure.ts, for one tenant or, if it is null, for all tenants. */
function merged({ layers }: AnyScene, application: number, tenant: number | null) {
  const configs = (slot: string) => {
    const { modules, pins } = layers[slot] as Values
    const KeyValuePairs = Object.entries(pairsOf(pins)).map(([Key, Value]) => ({ Key, Value }))
    return {
      backend: fillBackendDefaults({ EnabledModules: modules }),
      frontend: fillFrontendDefaults({ KeyValuePairs }),
    }
  }
  const all: Layers = { project: configs('project'), application: configs(`a${application}`) }
  if (tenant !== null) {
    all.tenant = configs(`t${tenant}`)
    all.tenant2application = configs(`t${tenant}a${application}`)
  }
  const { backend, frontend } = mergeLayers(all)
  const pins = frontend.KeyValuePairs.find(({ Key }) => Key === 'pilets.pins')?.Value ?? '{}'
  return { modules: backend.EnabledModules.value, pins: JSON.parse(pins) as Record<string, string> }
}

const feedAt = async (path: string): Promise<string[] | number> => {
  const { status, body } = await requestThroughProxy(service, `/pilet-feed/${path}`)
  if (status !== 200) return status
  const { items } = JSON.parse(body) as { items: { name: string; version: string }[] }
  return items.map(({ name, version }) => `${name} ${version}`)
}
const feedOf = ({ modules }: { modules: string[] }, pins: Record<string, string>): string[] =>
  modules
    .filter((name) => names.includes(name))
    .map((name) => [name, pins[name] ?? '2.0.0'] as const)
    .filter(([, version]) => versions.includes(version))
    .map(([name, version]) => `${name} ${version}`)
    .toSorted()

test('[pilet-feed.filter] [pilet-feed.pins] [pilet-feed.bundle-rejected] feeds and bundles follow the cascade, whatever the layers hold', async () => {
  await fc.assert(
    fc.asyncProperty(anyScene, async (scene) => {
      await store(scene)
      for (const [a, applicationId] of owners.applications().entries()) {
        const shared = merged(scene, a, null)
        expect(await feedAt(applicationId)).toEqual(feedOf(shared, {}))
        const loaded = new Set(shared.modules)
        for (const [t, tenantId] of owners.tenants().entries()) {
          const isEnabled = scene.enabled[t * 2 + a] as boolean
          const inTenant = merged(scene, a, t)
          expect(await feedAt(`${applicationId}/${tenantId}`)).toEqual(
            isEnabled ? feedOf(inTenant, inTenant.pins) : 404,
          )
          if (isEnabled) for (const name of inTenant.modules) loaded.add(name)
        }
        for (const name of names) {
          const path = `/pilet-bundle/${applicationId}/${project.id}/${encodeURIComponent(name)}/1.0.0`
          const { status } = await requestThroughProxy(service, path)
          expect([name, status]).toEqual([name, loaded.has(name) ? 200 : 404])
        }
      }
    }),
    { numRuns: 25 },
  )
})
