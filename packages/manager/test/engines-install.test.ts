// Tests the message for users who cannot install Debian packages: one sentence that names the missing packages.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ensureCeph, ensurePrometheus, ensureTmux } from '@manager/harness/engines/install.ts'

beforeEach(() => {
  vi.spyOn(process, 'getuid').mockReturnValue(1001)
  vi.stubEnv('PATH', '/nonexistent')
})
afterEach(() => vi.unstubAllEnvs())

function refusalOf(ensure: () => unknown): Error {
  try {
    ensure()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was missing')
}

describe('a user who is not root', () => {
  test('reads which package to install', () => {
    expect(refusalOf(ensureTmux).message).toBe(
      'Install the Debian package tmux, then run the tests again: sudo apt-get install -y tmux',
    )
  })

  test('reads all missing packages in one sentence', () => {
    expect(refusalOf(ensureCeph).message).toBe(
      'Install the Debian packages ceph-mon, ceph-mgr, ceph-osd, radosgw and ceph-common, then run the tests ' +
        'again: sudo apt-get install -y ceph-mon ceph-mgr ceph-osd radosgw ceph-common',
    )
  })

  test('sees no stack', () => {
    const refusal = refusalOf(ensurePrometheus)
    expect(refusal.stack).toBe(refusal.message)
    expect(refusal.message).not.toMatch(/PostgreSQL|Redis/i)
  })
})
