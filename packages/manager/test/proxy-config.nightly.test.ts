// Tests the configuration of a large installation: 3,000 dedicated tenants with 20 applications each.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createReferenceProxy } from '@manager/harness/engines/nginx-proxy.ts'
import { ensureNginx } from '@manager/harness/engines/install.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { runManagerProcess } from '@manager/harness/process.ts'
import { useProject } from './kit/project.ts'

const { service } = useProject()

async function seedLarge(): Promise<void> {
  const id = randomUUID()
  await service.sql.query("insert into projects (id, name, slug) values ($1, 'large', 'large')", [id])
  await service.sql.query(
    `insert into applications (id, project_id, name, slug)
     select gen_random_uuid(), $1, 'a' || n, 'a' || n from generate_series(1, 20) n`,
    [id],
  )
  await service.sql.query(
    `insert into tenants (id, project_id, name, slug, deployment_mode)
     select gen_random_uuid(), $1, 't' || n, 't' || n, 'dedicated' from generate_series(1, 3000) n`,
    [id],
  )
  await service.sql.query(
    `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
     select gen_random_uuid(), $1, t.id, a.id, true from tenants t, applications a where t.project_id = $1 and a.project_id = $1`,
    [id],
  )
}

test('it is rendered in bounded memory, and nginx takes it', async () => {
  await seedLarge()
  const proxy = await createReferenceProxy({ managerUrl: service.url, secret: proxySecret })
  try {
    const render = (form: string, file: string) =>
      runManagerProcess(
        [
          'proxy-config',
          '--host-pattern={application}.{project}.example.com',
          `--format=${form}`,
          `--out=${path.join(proxy.folder, file)}`,
        ],
        // The rendered output is larger than the heap limit, so it cannot be kept in memory.
        { ...testEnv(service.database.url), NODE_OPTIONS: '--max-old-space-size=64' },
      )
    expect(await render('json', 'proxy.json')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await render('nginx', 'rendered.conf')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(proxy.activeConfiguration()).toMatch(/\n# complete: 60021 hosts\n$/)
    // Throws if nginx rejects the configuration.
    execFileSync(ensureNginx(), ['-t', '-q', '-p', proxy.folder, '-c', path.join(proxy.folder, 'nginx.conf')])
    writeFileSync(path.join(proxy.folder, 'rendered.conf'), '')
  } finally {
    await proxy.close()
  }
})
