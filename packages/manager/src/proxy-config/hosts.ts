// Builds the hosts of applications from patterns and slugs. Two applications or tenants never share a host: a request
// for one must not reach the other.

export type HostSlugs = { project: string; application: string; tenant: string | null }
export type HostPatterns = { shared: string; dedicated: string }

const placeholderPattern = /\{([a-z]*)\}/g
const fixedLabelPattern = /^[a-z0-9-]*$/
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const maxHostLength = 253

/** Returns the patterns; throws if one is invalid or if two hosts could be the same. */
export function readHostPatterns(shared: string, dedicated = `{tenant}.${shared}`): HostPatterns {
  checkPattern(shared, ['application', 'project'])
  checkPattern(dedicated, ['application', 'project', 'tenant'])
  if (canCollide(shared, dedicated))
    throw new Error(
      `${shared} and ${dedicated} can produce the same host; give one pattern more labels or a different fixed label`,
    )
  return { shared, dedicated }
}

function checkPattern(pattern: string, requiredNames: readonly string[]): void {
  const placeholderNames = [...pattern.matchAll(placeholderPattern)].map(([, name = '']) => name)
  const requiredPlaceholders = requiredNames.map((name) => `{${name}}`).join(', ')
  if (placeholderNames.toSorted().join() !== requiredNames.join())
    throw new Error(
      `the host pattern ${pattern} must contain each of ${requiredPlaceholders} once, and nothing else in braces`,
    )
  for (const part of pattern.split('.')) {
    if ([...part.matchAll(placeholderPattern)].length > 1)
      throw new Error(
        `${part} of the host pattern ${pattern} joins two slugs, so two hosts could be the same; separate the slugs with a dot`,
      )
    // In each label, one letter replaces the slug, so that the rest of the label can be checked.
    const example = part.replace(placeholderPattern, 'x')
    if (!fixedLabelPattern.test(example) || !labelPattern.test(example))
      throw new Error(`${pattern} is not a host pattern: labels consist of a-z, digits and hyphens`)
  }
}

/** Returns false if the number of labels differs, or if two fixed labels at the same position differ. */
function canCollide(one: string, other: string): boolean {
  const [a, b] = [one.split('.'), other.split('.')]
  const haveDifferentLabels = (text: string, index: number): boolean =>
    !text.includes('{') && b[index]?.includes('{') === false && b[index] !== text
  return a.length === b.length && !a.some(haveDifferentLabels)
}

/** Returns the host, or null if it is too long for a DNS name. */
export function buildHost({ shared, dedicated }: HostPatterns, slugs: HostSlugs): string | null {
  const host = fillPattern(slugs.tenant === null ? shared : dedicated, slugs)
  return host.length <= maxHostLength && isHost(host) ? host : null
}

/** Returns true for a lowercase DNS name. */
export const isHost = (text: string): boolean =>
  text.length <= maxHostLength && text.split('.').every((part) => labelPattern.test(part))

/** Replaces the placeholders of a pattern with slugs. */
export const fillPattern = (pattern: string, { project, application, tenant }: HostSlugs): string =>
  pattern
    .replaceAll('{project}', project)
    .replaceAll('{application}', application)
    .replaceAll('{tenant}', tenant ?? '')

const backendTemplateSyntax = /^https?:\/\/[a-z0-9.{}-]+(?::[0-9]{1,5})?$/

/** Returns the pattern for backend addresses; throws if it is invalid or ambiguous. */
export function readBackendPattern(pattern: string): string {
  const placeholderNames = [...pattern.matchAll(placeholderPattern)].map(([, name = '']) => name)
  if (!backendTemplateSyntax.test(pattern) || placeholderNames.toSorted().join() !== 'application,project')
    throw new Error(
      `${pattern} is not a backend pattern: use http://<host> or https://<host>, optionally with a port, and {application} and {project} once each in the host`,
    )
  // Slugs can contain hyphens, so two slugs in one label would be ambiguous.
  const host = pattern.slice(pattern.indexOf('//') + 2).split(':')[0] ?? ''
  if (host.split('.').some((part) => (part.match(placeholderPattern) ?? []).length > 1))
    throw new Error(
      `${pattern} has two slugs in one label, so two applications could share a backend; separate the slugs with a dot`,
    )
  return pattern
}
