// Registered backends move from the clone of a tenant to the application and the environment of their machine user.
import { type AddressRules, parseCallbackUrl } from '@manager/manager/rules'
import { type Secrets, tokenAddress } from '@manager/manager/sealing'
import { keptId } from './ids.ts'
import { createdAt } from './plan-projects.ts'
import type { Project } from './project.ts'
import { remainsOf } from './remains.ts'
import type { OldBackend } from './rows.ts'
import { type Step, keptAside, creationEvent, merged, moved } from './steps.ts'
import { fitText } from './texts.ts'

type Deps = { secrets: Secrets; callbackRules: AddressRules }
const maxVersionLength = 100
// The token is sent in a header.
const tokenForm = /^[\x21-\x7e]{1,1000}$/

/** Rows arrive with the latest heartbeat first: that registration represents the others of its machine user. */
export async function* planBackends(
  project: Project,
  rows: AsyncIterable<OldBackend>,
  { secrets, callbackRules }: Deps,
): AsyncGenerator<Step, void, void> {
  const registered = new Map<string, string>()
  for await (const row of rows) {
    const applicationId = project.clones.get(row.application_id ?? '')?.applicationId
    const machine = project.machineUsers.get(row.machine_user_id ?? '')
    if (applicationId === undefined || machine === undefined) {
      yield keptAside('backends', row.id, 'orphan', remainsOf(row))
      continue
    }
    const earlier = registered.get(`${applicationId} ${machine.id}`)
    const url = parseCallbackUrl(row.callback_url ?? '', callbackRules)
    if (url === null || !tokenForm.test(row.callback_token ?? '')) {
      yield keptAside('backends', row.id, 'registers-again', remainsOf(row))
      continue
    }
    if (earlier !== undefined) {
      yield merged('backends', row.id, earlier, { rules: ['registered-twice'] })
      continue
    }
    const id = keptId('backends', row.id)
    registered.set(`${applicationId} ${machine.id}`, id)
    const version = fitText(row.version, maxVersionLength)
    const sealed = secrets.seal(row.callback_token ?? '', tokenAddress(id))
    const { environmentId, id: machineUserId } = machine
    yield moved('backends', row.id, id, {
      rules: version === (row.version ?? '') ? [] : ['name-fitted'],
      rows: [
        {
          table: 'backend_registrations',
          values: {
            id,
            project_id: project.id,
            application_id: applicationId,
            environment_id: environmentId,
            machine_user_id: machineUserId,
            callback_url: url.href,
            version,
            ...createdAt(row),
            callback_token: `\\x${sealed.toString('hex')}`,
            ...(row.last_heartbeat !== null && { last_heartbeat: row.last_heartbeat }),
          },
        },
      ],
      events: [
        creationEvent(
          'backendRegistration',
          { projectId: project.id, id, name: url.origin },
          { applicationId, environmentId, machineUserId, callbackOrigin: url.origin, version },
          { oldId: row.id },
        ),
      ],
    })
  }
}
