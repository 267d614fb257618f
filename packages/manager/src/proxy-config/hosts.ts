// The hosts of applications, made of slugs by patterns. Two applications or tenants never get the same host: who asks one
// host must not reach the other.

export type HostSlugs = { project: string; application: string; tenant: string | null }
export type HostPatterns = { shared: string; dedicated: string }

const placeholders = /\{([a-z]*)\}/g
const fixedLabel = /^[a-z0-9-]*$/
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const maxHostLength = 253

/** The patterns, if no two hosts can be the same; throws saying what is wrong with them. */
export function readHostPatterns(shared: string, dedicated = `{tenant}.${shared}`): HostPatterns {
  checkPattern(shared, ['application', 'project'])
  checkPattern(dedicated, ['application', 'project', 'tenant'])
  if (canCollide(shared, dedicated))
    throw new Error(
      `${shared} and ${dedicated} can make the same host; let one have more labels, or another fixed label`,
    )
  return { shared, dedicated }
}

function checkPattern(pattern: string, needed: readonly string[]): void {
  const named = [...pattern.matchAll(placeholders)].map(([, name = '']) => name)
  const wanted = needed.map((name) => `{${name}}`).join(', ')
  if (named.toSorted().join() !== needed.join())
    throw new Error(
      `the host pattern ${pattern} must have each of ${wanted} once, and nothing else in braces`,
    )
  for (const part of pattern.split('.')) {
    if ([...part.matchAll(placeholders)].length > 1)
      throw new Error(
        `${part} of the host pattern ${pattern} joins two slugs, so that two hosts may be the same; put a dot between them`,
      )
    // A slug stands for one letter here.
    const example = part.replace(placeholders, 'x')
    if (!fixedLabel.test(example) || !label.test(example))
      throw new Error(`${pattern} is no host pattern: labels have letters a-z, digits and hyphens`)
  }
}

/** Neither can where the number of labels differs, or two labels at the same place are fixed and differ. */
function canCollide(one: string, other: string): boolean {
  const [a, b] = [one.split('.'), other.split('.')]
  const differ = (text: string, index: number): boolean =>
    !text.includes('{') && b[index]?.includes('{') === false && b[index] !== text
  return a.length === b.length && !a.some(differ)
}

/** The host, or null when a name of DNS cannot be so long. */
export function hostOf({ shared, dedicated }: HostPatterns, slugs: HostSlugs): string | null {
  const host = fill(slugs.tenant === null ? shared : dedicated, slugs)
  return host.length <= maxHostLength && isHost(host) ? host : null
}

/** True for a name of DNS in small letters. */
export const isHost = (text: string): boolean =>
  text.length <= maxHostLength && text.split('.').every((part) => label.test(part))

/** The pattern with slugs in the places of its placeholders. */
export const fill = (pattern: string, { project, application, tenant }: HostSlugs): string =>
  pattern
    .replaceAll('{project}', project)
    .replaceAll('{application}', application)
    .replaceAll('{tenant}', tenant ?? '')

const backendForm = /^https?:\/\/[a-z0-9.{}-]+(?::[0-9]{1,5})?$/

/** The address of the backends of applications by a pattern; throws saying what is wrong with it. */
export function readBackendPattern(pattern: string): string {
  const named = [...pattern.matchAll(placeholders)].map(([, name = '']) => name)
  if (!backendForm.test(pattern) || named.toSorted().join() !== 'application,project')
    throw new Error(
      `${pattern} is no backend pattern: write http://<host> or https://<host>, with a port if need be, and {application} and {project} once each in the host`,
    )
  // Slugs have hyphens: two in one label could be read in two ways.
  const host = pattern.slice(pattern.indexOf('//') + 2).split(':')[0] ?? ''
  if (host.split('.').some((part) => (part.match(placeholders) ?? []).length > 1))
    throw new Error(
      `${pattern} has two slugs in one label, so that two applications could have one backend; put a dot between them`,
    )
  return pattern
}
