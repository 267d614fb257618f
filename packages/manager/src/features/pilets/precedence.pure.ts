// Versions as keys that sort like versions. The database finds the highest version of a pilet by index, so what decides
// which of two versions is higher must be in the order of bytes. Pure.

/** `precedence` compares, byte by byte, as SemVer 2.0.0 section 11 says; build metadata does not count. */
export type Precedence = { precedence: string; isStable: boolean }

/** The key of a version that is known to be strict SemVer. */
export function precedenceOf(version: string): Precedence {
  const [withoutBuild = ''] = version.split('+', 1)
  const dash = withoutBuild.indexOf('-')
  const isStable = dash < 0
  const core = isStable ? withoutBuild : withoutBuild.slice(0, dash)
  const numbers = core.split('.').map(sortableNumber).join('')
  if (isStable) return { precedence: `${numbers}~`, isStable }
  // The space between identifiers comes before every character of one: a shorter list is lower.
  const identifiers = withoutBuild.slice(dash + 1).split('.')
  return { precedence: `${numbers}!${identifiers.map(sortableIdentifier).join(' ')}`, isStable }
}

/** Its length first: a longer number is higher. Versions have at most 256 characters. */
const sortableNumber = (digits: string): string => String(digits.length).padStart(3, '0') + digits

/** Numbers are lower than words. */
const sortableIdentifier = (identifier: string): string =>
  /^\d+$/.test(identifier) ? `0${sortableNumber(identifier)}` : `1${identifier}`
