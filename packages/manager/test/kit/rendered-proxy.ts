// Renders the reference proxy configuration for a service with `manager proxy-config`.
import type { TestApp } from './app.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { runManager } from './commands.ts'

type Wanted = { form: 'nginx' | 'apache'; management: string; backendUrl: string }

/**
 * Returns the rendered configuration. Hosts are `{application}.{project}.example.com`, and all hosts use the
 * same backend.
 */
export async function renderProxy(
  service: Pick<TestApp, 'database'>,
  { form, management, backendUrl }: Wanted,
): Promise<string> {
  const { code, stdout, stderr } = await runManager(
    [
      'proxy-config',
      `--format=${form}`,
      `--management-host=${management}`,
      '--host-pattern={application}.{project}.example.com',
      '--backend-pattern=http://{application}.{project}.backends',
    ],
    testEnv(service.database.url),
  )
  if (code !== 0 || stderr !== '') throw new Error(`proxy-config exited with ${code}: ${stderr}`)
  // Use an address instead of a host name, because tests have no DNS.
  return stdout.replaceAll(/http:\/\/[a-z-]+\.[a-z-]+\.backends/g, backendUrl)
}
