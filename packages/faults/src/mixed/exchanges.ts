// ESB calls, uploads of pilets, and logins from terminals.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { partnerHeader, personHeaders } from '../installation.ts'
import { decide, openTerminal } from '@manager/harness/cli-login.ts'
import { boundary, formOf, formPart, piletPath } from '@manager/harness/pilets.ts'
import { pause } from '../children.ts'
import type { Recorder } from '../recorder.ts'
import type { Client } from './client.ts'
import type { MixedWorld } from './world.ts'

type Caller = { client: Client; recorder: Recorder; world: MixedWorld; url: string }
/** A call to which the partner responded. */
export type AnsweredCall = { requestId: string; status: number }
/** An upload that was accepted. */
export type Uploaded = { version: string; sha256: string }
/** An approved login. `unknown` counts polls without a response, which may have consumed the token. */
export type Login = { key: string; tokens: string[]; unknown: number; last: string; isValid: boolean | null }

const pilet = '@load/store'

/** Calls the partner through the ESB. */
export async function callPartner(
  { client, recorder, world }: Caller,
  answered: AnsweredCall[],
): Promise<void> {
  const requestId = randomUUID()
  await recorder.record('call', requestId, async () => {
    const { status, headers } = await client.send(`/esb/${world.site.applicationId}/orders`, {
      headers: { authorization: `Bearer ${world.site.machineToken}`, 'x-request-id': requestId },
      body: { order: requestId },
    })
    if (headers[partnerHeader] !== undefined) answered.push({ requestId, status })
    return status
  })
}

/** Uploads a version with unique bytes. */
export async function uploadVersion(
  { client, recorder, world }: Caller,
  uploaded: Uploaded[],
): Promise<void> {
  const version = `1.0.${Date.now()}-${randomBytes(4).readUInt32BE()}`
  const content = `//@pilet v:2\nexport const text = '${randomBytes(8_000).toString('hex')}'\n`
  const { projectId, adminId } = world.site
  const status = await recorder.record('upload', version, async () => {
    const answer = await client.send(piletPath({ projectId, name: pilet, version }), {
      method: 'POST',
      headers: { ...personHeaders(adminId), 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: formOf(formPart({}, content)),
    })
    return answer.status
  })
  if (status >= 200 && status < 300) uploaded.push({ version, sha256: sha256Of(content) })
}

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Downloads the versions and returns the hash of each one, or its status if it is not 200. */
export async function readVersions(
  { client, world }: Caller,
  uploaded: readonly Uploaded[],
): Promise<Record<string, string>> {
  const served: Record<string, string> = {}
  const { projectId, adminId } = world.site
  for (const { version } of uploaded) {
    const path = piletPath({ projectId, name: pilet, version })
    const { status, text } = await client.send(path, { headers: personHeaders(adminId) })
    served[version] = status === 200 ? sha256Of(text) : String(status)
  }
  return served
}

const maxPolls = 40

/** Signs in from a terminal: a user approves the login, and the terminal polls for the outcome. */
export async function logIn({ recorder, url }: Caller, logins: Login[]): Promise<void> {
  const terminal = await openTerminal({ url })
  let session = { session_id: '', user_code: '' }
  const started = await recorder.record('login', randomUUID(), async () => {
    const { status, body } = await terminal.start()
    session = body as typeof session
    return status
  })
  if (started !== 200) return
  const person = { id: randomUUID(), name: 'a person at a terminal' }
  const approved = await recorder.record('approve', session.user_code, async () => {
    return (await decide({ url }, person, session.user_code, 'approve')).status
  })
  if (approved !== 200) return
  const login: Login = { key: session.user_code, tokens: [], unknown: 0, last: '', isValid: null }
  logins.push(login)
  for (let polls = 0; polls < maxPolls; polls++) {
    await pause(200)
    let body: Record<string, unknown> = {}
    const status = await recorder.record('poll', session.user_code, async () => {
      const answer = await terminal.poll(session.session_id)
      body = answer.body
      return answer.status
    })
    login.last = typeof body['status'] === 'string' ? body['status'] : String(status)
    if (status === 0 || status >= 500) login.unknown++
    if ('sealed_token' in body) login.tokens.push(terminal.open(body['sealed_token']))
    // Polling continues after the token is received, because it must not be issued twice.
    if (login.tokens.length > 1 || ['expired', 'denied'].includes(login.last)) return
  }
}
