// These tests cover which callback URLs registration accepts. Each connection checks the address again.
import { describe, expect, test } from 'vitest'
import { startTestApp } from '../../../test/kit/app.ts'
import { register } from '@manager/harness/backends.ts'
import { useProject } from '../../../test/kit/project.ts'
import { refusedCallbackUrls } from '../../../test/kit/refused-callback-urls.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, project } = useProject()

const machine = () => seedMachineUser(service.sql, project)
const body = (callback_url: string) => ({ application_id: project.applicationId, callback_url })

describe('the callback URL', () => {
  const registerUrl = async (callback_url: string) => {
    const { token } = await machine()
    const { status, body: answer } = await register(service, token, body(callback_url))
    return [status, status === 400 ? answer.message : callback_url]
  }

  test('[backends.url-invalid] what is not absolute, not http or https, or has a user name is answered 400', async () => {
    const invalid = [
      '',
      ' ',
      'backend',
      '/hooks',
      '//backend.example.com/',
      'backend.example.com/hooks',
      'http://',
      'http:///x',
      'ftp://backend.example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'ws://backend.example.com/',
      'https://user@backend.example.com/',
      'https://user:pass@backend.example.com/',
      'https://@backend.example.com/',
      'https://backend.example.com:99999/',
      'https://backend .example.com/',
      'https://backend.example.com/a\nb',
      `https://backend.example.com/${'x'.repeat(2_100)}`,
    ]
    for (const url of invalid)
      expect([url, ...(await registerUrl(url))]).toEqual([url, 400, 'Invalid callback_url'])
  })

  test.each([
    '127.0.0.1',
    '127.8.9.10',
    '[::1]',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '[fd00::1]',
    '169.254.1.1',
    '[fe80::1]',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '168.63.129.16',
    '224.0.0.1',
    '[ff02::1]',
    '0.0.0.0',
    '[::]',
    'localhost',
    'metadata.google.internal',
  ])('[backends.url-private] %s is refused', async (host) => {
    expect(await registerUrl(`http://${host}/hooks`)).toEqual([400, 'Invalid callback_url'])
    expect(await registerUrl(`https://${host}:8443/hooks`)).toEqual([400, 'Invalid callback_url'])
  })

  test('[backends.url-spellings] every spelling of a refused address is refused', async () => {
    const { id, token } = await machine()
    const accepted: unknown[] = []
    for (const [why, url] of refusedCallbackUrls) {
      const { status, body: answer } = await register(service, token, body(url))
      if (status !== 400 || answer.message !== 'Invalid callback_url') accepted.push([why, url, status])
    }
    expect([refusedCallbackUrls.length > 300, accepted]).toEqual([true, []])
    const { rowCount } = await service.sql.query(
      'select from backend_registrations where machine_user_id = $1',
      [id],
    )
    expect(rowCount).toBe(0)
  })

  const openedBy = (what: string, network = 'its network') =>
    `the host is ${what}, which is allowed only if callbacks.allowed_cidrs (SVC_CALLBACKS_ALLOWED_CIDRS) contains ${network}`
  const malformed =
    'the URL must be an absolute http or https URL with a valid host, without a user name, password, spaces or backslashes'
  const refusals: [url: string, hint: string][] = [
    ['http://127.0.0.1:8080/', openedBy('a loopback address')],
    ['http://[::1]/', openedBy('a loopback address')],
    ['http://0x7f.1/', openedBy('a loopback address')],
    ['http://localhost:3000/', openedBy('a loopback address', '127.0.0.0/8')],
    ['http://192.168.1.1/', openedBy('a private address')],
    ['http://backend.internal/', openedBy('an internal name', 'its network')],
    ['http://169.254.1.1/', 'the host is a link-local address, which is never allowed'],
    ['http://metadata.google.internal/', 'the host is a metadata service, which is never allowed'],
    ['http://224.0.0.1/', 'the host is a multicast address, which is never allowed'],
    ['/hooks', malformed],
    ['https://user:secret@backend.example.com/', malformed],
    ['http://a..b/', malformed],
    ['http://backend.example.com:0/', 'the port must not be 0'],
    [`https://backend.example.com/${'x'.repeat(2_100)}`, 'the URL must have at most 2048 characters'],
  ]
  test.each(refusals.map(([url, hint]) => ({ name: url.slice(0, 50), url, hint })))(
    '$name: response and log line name the rule, and the setting that allows it',
    async ({ url: callback_url, hint }) => {
      const { token } = await machine()
      const { status, body: answer, headers } = await register(service, token, body(callback_url))
      const request_id = headers.get('x-request-id')
      const expected = {
        success: false,
        message: 'Invalid callback_url',
        code: 'bad_request',
        request_id,
        hint,
        details: [{ path: 'callback_url', message: hint }],
      }
      expect([status, answer]).toEqual([400, expected])
      const lines = () =>
        service.logLines.filter((line) => line['request_id'] === request_id && line['msg'] === 'request')
      await expect.poll(lines).toMatchObject([{ status: '400', hint }])
      expect(JSON.stringify(lines())).not.toContain('secret')
    },
  )

  test('[backends.url-unresolved] a name that does not resolve is accepted', async () => {
    const url = 'https://not-yet-there.invalid/hooks'
    expect(await registerUrl(url)).toEqual([201, url])
  })

  test('[backends.url-allowed-cidrs] opened networks are accepted, and nothing beside them', async () => {
    const env = { SVC_CALLBACKS_ALLOWED_CIDRS: '10.20.0.0/16,127.0.0.1/32' }
    const opened = await startTestApp({ database: service.database, env })
    const { token } = await machine()
    const statusOf = async (callback_url: string) =>
      (await register(opened, token, body(callback_url))).status
    expect(await statusOf('http://10.20.3.4:8080/hooks')).toBe(201)
    expect(await statusOf('http://127.0.0.1:8080/hooks')).toBe(200)
    for (const host of ['10.21.0.1', '127.0.0.2', '192.168.1.1', '169.254.169.254', '[::1]'])
      expect([host, await statusOf(`http://${host}/hooks`)]).toEqual([host, 400])
    await opened.close()
  })
})
