// Registered backends move from the clone that belongs to a tenant to the application, in the environment of their
// machine user.
import { type AddressRules, parseCallbackUrl } from '@manager/manager/rules'
import { type Secrets, getTokenLocation } from '@manager/manager/sealing'
import { toNewId } from './ids.ts'
import { pickCreatedAt } from './plan-projects.ts'
import type { Project } from './project.ts'
import { getRemainder } from './remains.ts'
import type { OldBackend } from './rows.ts'
import {
  type Step,
  createSkippedStep,
  createCreationEvent,
  createMergedStep,
  createMovedStep,
} from './steps.ts'
import { fitText } from './texts.ts'

type Deps = { secrets: Secrets; callbackRules: AddressRules }
const maxVersionLength = 100
// The token is sent in a header, so only printable ASCII characters are allowed.
const tokenPattern = /^[\x21-\x7e]{1,1000}$/

/**
 * Plans the backends. Rows arrive with the latest heartbeat first. The first valid registration of a machine user
 * represents the others.
 */
export async function* planBackends(
  project: Project,
  rows: AsyncIterable<OldBackend>,
  { secrets, callbackRules }: Deps,
): AsyncGenerator<Step, void, void> {
  const registrationIds = new Map<string, string>()
  for await (const row of rows) {
    const applicationId = project.clones.get(row.application_id ?? '')?.applicationId
    const machine = project.machineUsers.get(row.machine_user_id ?? '')
    if (applicationId === undefined || machine === undefined) {
      yield createSkippedStep('backends', row.id, 'orphan', getRemainder(row))
      continue
    }
    const earlierId = registrationIds.get(`${applicationId} ${machine.id}`)
    const url = parseCallbackUrl(row.callback_url ?? '', callbackRules)
    if (url === null || !tokenPattern.test(row.callback_token ?? '')) {
      yield createSkippedStep('backends', row.id, 'registers-again', getRemainder(row))
      continue
    }
    if (earlierId !== undefined) {
      yield createMergedStep('backends', row.id, earlierId, { rules: ['registered-twice'] })
      continue
    }
    const id = toNewId('backends', row.id)
    registrationIds.set(`${applicationId} ${machine.id}`, id)
    const version = fitText(row.version, maxVersionLength)
    const sealedToken = secrets.seal(row.callback_token ?? '', getTokenLocation(id))
    const { environmentId, id: machineUserId } = machine
    yield createMovedStep('backends', row.id, id, {
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
            ...pickCreatedAt(row),
            callback_token: `\\x${sealedToken.toString('hex')}`,
            ...(row.last_heartbeat !== null && { last_heartbeat: row.last_heartbeat }),
          },
        },
      ],
      events: [
        createCreationEvent(
          'backendRegistration',
          { projectId: project.id, id, name: url.origin },
          { applicationId, environmentId, machineUserId, callbackOrigin: url.origin, version },
          { oldId: row.id },
        ),
      ],
    })
  }
}
