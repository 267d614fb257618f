// Tests `manager deployment scale-to-zero`.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { testEnv } from '@manager/harness/test-env.ts'
import { proxyCalls, seedSpecification, specificationCalls } from './kit/deployments.ts'
import { runManager } from './kit/commands.ts'
import { useProject } from './kit/project.ts'

const { service, project } = useProject({ slug: 'shop' })
const { auditOf } = specificationCalls(() => service)
const { ask } = proxyCalls(() => service.url)
let id: string
beforeEach(async () => {
  await service.sql.query('delete from deployment_specifications')
  id = await seedSpecification(service.sql, project)
})

const deployment = (...args: string[]) => runManager(['deployment', ...args], testEnv(service.database.url))
const set = (...args: string[]) => deployment('scale-to-zero', ...args)
const isOn = async () =>
  (await ask('deployment', { app_id: project.applicationId, env: 'dev' })).body.scale_to_zero as boolean

describe('manager deployment scale-to-zero', () => {
  test('[deployments.flag] turns it on and off, by slugs or by id, and the audit trail has it', async () => {
    const on = await set('shop/shop-app', 'dev', 'on', '--workload', 'shop/web')
    expect(on).toEqual({
      code: 0,
      stdout: 'Scale to zero is now on for shop/shop-app in dev (workload shop/web).\n',
      stderr: '',
    })
    expect(await isOn()).toBe(true)
    await service.sql.query(
      `insert into deployment_wakes (specification_id, holder, ended_at, min_replicas, already_awake)
       values ($1, gen_random_uuid(), now(), 1, false)`,
      [id],
    )
    const off = await set(project.applicationId.toUpperCase(), 'dev', 'off')
    expect([off.code, off.stdout]).toEqual([
      0,
      'Scale to zero is now off for shop/shop-app in dev (workload shop/web).\n',
    ])
    expect(await isOn()).toBe(false)
    // The result of an earlier wake is deleted: when scale-to-zero is turned on again, the workload may be a
    // different one.
    expect((await service.sql.query('select from deployment_wakes')).rowCount).toBe(0)
    const principal_id = 'manager deployment scale-to-zero'
    expect(await auditOf(id)).toEqual([
      { action: 'update', principal_id, changes: { scaleToZero: { before: false, after: true } } },
      { action: 'update', principal_id, changes: { scaleToZero: { before: true, after: false } } },
    ])
  })

  test('what is on already stays on, without a row of the trail', async () => {
    await seedSpecification(service.sql, project, { scaleToZero: true })
    const again = await set('shop/shop-app', 'dev', 'on')
    expect([again.code, again.stdout]).toEqual([
      0,
      'Scale to zero is already on for shop/shop-app in dev (workload shop/web).\n',
    ])
    expect(await auditOf(id)).toEqual([])
  })

  test('what there is not, it says, with what to do', async () => {
    const unknown = randomUUID()
    for (const [args, text] of [
      [['shop/nothing', 'dev', 'on'], 'application shop/nothing not found; pass its id, or'],
      [['shop/shop-app/typo', 'dev', 'on'], 'application shop/shop-app/typo not found;'],
      [
        ['shop/shop-app', 'dev', 'on', '--workload', 'other/web'],
        'the workload of shop/shop-app in dev is shop/web, not other/web; nothing was changed',
      ],
      [['shop', 'dev', 'on'], 'application shop not found; pass its id, or'],
      [[unknown, 'dev', 'on'], `application ${unknown} not found;`],
      [['shop/shop-app', 'run', 'on'], 'shop/shop-app in run has no deployment specification; a maintainer'],
      [['shop/shop-app', 'prod', 'on'], 'Allowed choices are dev, qas, run'],
      [['shop/shop-app', 'dev', 'maybe'], 'Allowed choices are on, off'],
      [['shop/shop-app', 'dev'], "missing required argument 'state'"],
    ] as const) {
      const { code, stderr } = await set(...args)
      expect([code, stderr]).toEqual([1, expect.stringContaining(text)])
    }
    expect(await isOn()).toBe(false)
  })

  test('--help shows the arguments and examples', async () => {
    for (const args of [['--help'], ['scale-to-zero', '--help']]) {
      const { code, stdout } = await deployment(...args)
      expect(code).toBe(0)
      expect(stdout).toContain('deployment scale-to-zero shop/web dev on')
    }
  })
})
