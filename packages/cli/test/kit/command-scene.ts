// Runs every command against a real service, and records its output and its requests.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { createToken } from '@manager/harness/credentials.ts'
import { register } from '@manager/harness/backends.ts'
import { seedNotifications } from '../../../manager/test/kit/inbox.ts'
import { createFakeOrchestrator } from '../../../manager/test/kit/deployments.ts'
import { type Upstream, startUpstream } from '../../../manager/test/kit/upstream.ts'
import { findMutation } from './api-operations.ts'
import type { Line } from './every-command.ts'
import { useSvc } from './svc.ts'

export type Played = {
  line: string
  code: number
  out: string
  err: string
  mutations: string[]
  /** The method and path of each REST request. */
  requests: string[]
}

const files: Readonly<Record<string, string>> = {
  'texts.yaml': 'cart: { title: Korb }\ncount: "3"\n',
  'index.js': '//@pilet v:2\n',
  'order.json': '{"id": 1}',
  'orders.tmpl': '{{ .Data.id }}',
  'shop.yaml': 'projects: [{ slug: applied, name: Applied, tenants: [{ slug: one, name: One }] }]\n',
}

/** Splits a command line at spaces, except in double quotes. */
export const splitLine = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')

export function useCommandScene() {
  const kit = useSvc({
    world: { orchestrator: createFakeOrchestrator() },
    env: {
      SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8',
      SVC_TRIGGERS_MANUAL_RUNS_PER_MINUTE: '10000',
      SVC_ESB_TEST_CALLS_PER_MINUTE: '10000',
    },
  })
  const { service, admin, folder, proxy, svc, person } = kit
  const partner = {} as Upstream
  const tokens: Record<string, string> = {}
  beforeAll(async () => {
    Object.assign(partner, await startUpstream())
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder.path, name), text)
    await person('ann')
    tokens['ben'] = (await createToken(service, await person('ben'))).token
  })
  afterAll(() => partner.close())

  const queryId = async (text: string): Promise<string> =>
    (await service.sql.query(text)).rows[0].id as string
  const arrangements: Readonly<Record<string, () => Promise<unknown>>> = {
    scaleToZero: () => service.sql.query('update deployment_specifications set scale_to_zero = true'),
    registerBackend: async () => {
      const token = readFileSync(path.join(folder.path, 'rotated.token'), 'utf8').trim()
      const body = { application_id: await queryId("select id from applications where slug = 'web'") }
      const { status } = await register(service, token, { ...body, callback_url: `${partner.url}/callbacks` })
      if (status !== 201) throw new Error(`registration failed: ${status}`)
    },
    breakPartner: async () => partner.handle((request) => void request.socket.destroy()),
    repairPartner: async () => partner.reset(),
    failRuns: () => service.sql.query("update trigger_runs set outcome = 'failed', finished_at = now()"),
    provisionGroup: async () => {
      await service.sql.query('insert into scim_users (user_id, user_name, active) values ($1, $2, true)', [
        admin.id,
        'admin',
      ])
      await service.sql.query(
        `with added as (insert into scim_groups (id, display_name, member_count)
           values (gen_random_uuid(), 'Operators', 1) returning id)
         insert into scim_group_members (group_id, user_id) select id, $1 from added`,
        [admin.id],
      )
    },
    notify: async () => {
      const inbox = {
        tenantId: await queryId("select id from tenants where slug = 'acme'"),
        applicationId: await queryId("select id from applications where slug = 'web'"),
      }
      await seedNotifications(service.sql, inbox, [admin], [{ title: 'Order shipped' }])
    },
  }

  /** Runs one line with --json. */
  async function play(one: Line): Promise<Played | null> {
    if (typeof one !== 'string' && 'arrange' in one) {
      await arrangements[one.arrange]?.()
      return null
    }
    const [line, env] =
      typeof one === 'string' ? [one, {}] : [one.line, { SVC_TOKEN: tokens[one.person] ?? '' }]
    const words = splitLine(line.replaceAll('@/', `${folder.path}/`).replaceAll('$partner', partner.url))
    const defaults = { SVC_PROJECT: 'shop', SVC_APP: 'web', SVC_ENVIRONMENT: 'dev' }
    proxy.documents.length = 0
    proxy.requests.length = 0
    const ended = await svc([...words, '--json'], { env: { ...defaults, ...env } })
    const mutations = proxy.documents.map(findMutation).filter((name) => name !== null)
    return { line, ...ended, mutations, requests: proxy.requests.filter((call) => call !== 'POST /query') }
  }
  return { ...kit, play }
}
