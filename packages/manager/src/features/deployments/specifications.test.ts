// These tests cover deployment specifications through GraphQL.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { seedSpecification, specificationCalls } from '../../../test/kit/deployments.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project, other, member } = useProject({ withOther: true })
const { create, update, remove, list, auditOf } = specificationCalls(() => service)
beforeEach(() => service.sql.query('delete from deployment_specifications'))

const minimal = () => ({ environmentId: project.environmentId, workload: 'shop/web', image: 'web:1' })
const full = () => ({
  environmentId: project.environmentId,
  workload: 'shop-dev/web-2',
  image: 'registry.example:5000/shop/web@sha256:0123',
  version: '1.2.3',
  minReplicas: 2,
  maxReplicas: 7,
  port: 9_000,
  healthPath: '/ready?deep=1',
  readinessTimeoutSeconds: 90,
})
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const forms = {
  workload:
    'workload must be namespace/name, each 1 to 63 lower-case letters, digits or hyphens, without a hyphen at either end',
}

describe('deployment specifications', () => {
  test('[deployments.spec-fields] [deployments.spec-more-fields] are made with every field, or with defaults', async () => {
    const { data, error } = await create(admin, project.applicationId, full())
    expect(error).toBeNull()
    const { environmentId, ...values } = full()
    expect(data.row).toEqual({
      ...values,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      application: { id: project.applicationId },
      environment: { id: environmentId, name: 'dev' },
      scaleToZero: false,
      createdAt: time,
      updatedAt: time,
    })
    await remove(admin, data.row.id)
    const small = await create(admin, project.applicationId, minimal())
    expect(small.data.row).toMatchObject({
      version: '',
      minReplicas: 1,
      maxReplicas: 1,
      port: 8_080,
      healthPath: '/health',
      readinessTimeoutSeconds: 60,
    })
  })

  test('[deployments.spec-query] are listed by application, and by no other', async () => {
    await seedSpecification(service.sql, project)
    await seedSpecification(service.sql, project, { environment: 'run', workload: 'shop/run' })
    await seedSpecification(service.sql, other, { workload: 'other/web' })
    const { data } = await list(admin, project.applicationId)
    expect(data.rows.map((row: { workload: string }) => row.workload).toSorted()).toEqual([
      'shop/run',
      'shop/web',
    ])
    expect((await list(admin, randomUUID())).error).toBe('application not found')
  })

  test('[deployments.spec-mutations] need maintainer or above; others read, and strangers find nothing', async () => {
    const [maintainer, developer] = [await member('m', 'maintainer'), await member('d', 'developer')]
    const made = await create(maintainer, project.applicationId, minimal())
    expect(made.error).toBeNull()
    const { id } = made.data.row
    expect((await update(maintainer, id, { version: '2' })).data.row.version).toBe('2')
    for (const refused of [
      await create(developer, project.applicationId, full()),
      await update(developer, id, { version: '3' }),
      await remove(developer, id),
    ])
      expect(refused.error).toMatch(/maintainer/)
    expect((await list(developer, project.applicationId)).data.rows).toHaveLength(1)
    expect((await remove(maintainer, id)).data.done).toBe(true)
    expect((await remove(maintainer, id)).error).toBe('deployment specification not found')
  })

  test('things of another project are not found, and cannot be joined', async () => {
    const maintainer = await member('m2', 'maintainer')
    const foreign = await seedSpecification(service.sql, other)
    expect((await list(maintainer, other.applicationId)).error).toBe('application not found')
    expect((await create(maintainer, other.applicationId, minimal())).error).toBe('application not found')
    for (const refused of [
      await update(maintainer, foreign, { version: 'x' }),
      await remove(maintainer, foreign),
    ])
      expect(refused.error).toBe('deployment specification not found')
    for (const environmentId of [other.environmentId, randomUUID(), 'dev'])
      expect((await create(admin, project.applicationId, { ...minimal(), environmentId })).error).toBe(
        'environment not found',
      )
  })

  test('there is one for an application and an environment, also of two made at once', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => create(admin, project.applicationId, minimal())))
    expect(answers.map(({ error }) => error ?? 'made').toSorted()).toEqual([
      'made',
      'the application already has a deployment specification for this environment',
      'the application already has a deployment specification for this environment',
    ])
  })

  test('two updates at once both hold, and each has its row of the trail', async () => {
    const id = await seedSpecification(service.sql, project)
    await Promise.all([update(admin, id, { version: '2' }), update(admin, id, { port: 9_001 })])
    expect((await list(admin, project.applicationId)).data.rows).toMatchObject([
      { version: '2', port: 9_001 },
    ])
    expect((await auditOf(id)).map(({ changes }) => Object.keys(changes).join(' ')).toSorted()).toEqual([
      'port',
      'version',
    ])
  })

  const bad: [string, Record<string, unknown>, string][] = [
    ...[
      '',
      'web',
      '/web',
      'shop/',
      'shop/web/x',
      'Shop/web',
      'shop/-web',
      'shop/web-',
      'shop/we_b',
      ' shop/web',
      'shop/web\n',
      '../kube-system',
      'shop/..',
      'shop/%2e',
      'shöp/web',
      `${'a'.repeat(64)}/web`,
      `shop/${'a'.repeat(64)}`,
      `${'a'.repeat(100_000)}/web`,
      'shop.a/web',
    ].map((workload): [string, Record<string, unknown>, string] => [
      `workload ${JSON.stringify(workload.slice(0, 70))}`,
      { workload },
      forms.workload,
    ]),
    ['an empty image', { image: '' }, 'image must have 1 to 500 characters'],
    ['a long image', { image: 'a'.repeat(501) }, 'image must have 1 to 500 characters'],
    [
      'an image with a space',
      { image: 'a b' },
      'image must contain only visible ASCII characters, without spaces',
    ],
    ['a long version', { version: 'a'.repeat(101) }, 'version must have at most 100 characters'],
    ['fewer than no replicas', { minReplicas: -1 }, 'minReplicas must be from 0 to 1000'],
    ['no replicas at most', { maxReplicas: 0 }, 'maxReplicas must be from 1 to 1000'],
    ['too many replicas', { maxReplicas: 1_001 }, 'maxReplicas must be from 1 to 1000'],
    [
      'more at least than at most',
      { minReplicas: 3, maxReplicas: 2 },
      'minReplicas must not be greater than maxReplicas',
    ],
    ['port 0', { port: 0 }, 'port must be from 1 to 65535'],
    ['port 65536', { port: 65_536 }, 'port must be from 1 to 65535'],
    ['a relative path', { healthPath: 'health' }, 'healthPath must start with a slash'],
    [
      'a path with a line break',
      { healthPath: '/a\r\nX: y' },
      'healthPath must contain only visible ASCII characters, without spaces',
    ],
    ['a long path', { healthPath: `/${'a'.repeat(200)}` }, 'healthPath must have 1 to 200 characters'],
    ['no time', { readinessTimeoutSeconds: 0 }, 'readinessTimeoutSeconds must be from 1 to 3600'],
    ['too much time', { readinessTimeoutSeconds: 3_601 }, 'readinessTimeoutSeconds must be from 1 to 3600'],
  ]
  test.each(bad)('%s is refused, when made and when updated', async (_name, input, refusal) => {
    expect((await create(admin, project.applicationId, { ...minimal(), ...input })).error).toBe(refusal)
    const id = await seedSpecification(service.sql, project)
    expect((await update(admin, id, input)).error).toBe(refusal)
  })

  test('what is at the bounds is accepted', async () => {
    const label = 'a'.repeat(63)
    const id = await seedSpecification(service.sql, project)
    for (const input of [
      { workload: `${label}/${label}`, image: 'a'.repeat(500), version: 'a'.repeat(100) },
      { minReplicas: 0, maxReplicas: 1, port: 1, readinessTimeoutSeconds: 1, healthPath: '/' },
      { minReplicas: 1_000, maxReplicas: 1_000, port: 65_535, readinessTimeoutSeconds: 3_600 },
    ])
      expect((await update(admin, id, input)).data.row).toMatchObject(input)
  })
})

describe('the flag scaleToZero', () => {
  test('[deployments.flag] is an input of no mutation, and a new specification is without it', async () => {
    const sent = { ...minimal(), scaleToZero: true }
    expect((await create(admin, project.applicationId, sent)).error).toMatch(/"scaleToZero" is not defined/)
    const id = await seedSpecification(service.sql, project)
    expect((await update(admin, id, { scaleToZero: true })).error).toMatch(/"scaleToZero" is not defined/)
    const inputs = service.app
      .describe()
      .schema.matchAll(/^input \w+ \{[^}]*\}/gm)
      .filter(([text]) => /scaleToZero/i.test(text))
    expect([...inputs]).toEqual([])
  })

  test('[deployments.flag] stays over updates, which cannot move it to another workload, and ends with its row', async () => {
    const id = await seedSpecification(service.sql, project, { scaleToZero: true })
    expect((await update(admin, id, { version: '2', workload: 'shop/web' })).data.row).toMatchObject({
      version: '2',
      scaleToZero: true,
    })
    expect((await update(admin, id, { workload: 'kube-system/coredns' })).error).toBe(
      'the workload cannot be changed while scaleToZero is on; ask the operator to turn it off (manager deployment scale-to-zero)',
    )
    await remove(admin, id)
    expect((await create(admin, project.applicationId, minimal())).data.row.scaleToZero).toBe(false)
  })
})
