// Computes the sort keys of versions. The database finds the highest version of a pilet by index. The byte
// order of the keys must therefore match the precedence order of the versions.

/** `precedence` sorts byte by byte as SemVer 2.0.0 section 11 requires. Build metadata is ignored. */
export type Precedence = { precedence: string; isStable: boolean }

/** Returns the sort key. The version must be strict SemVer. */
export function computePrecedence(version: string): Precedence {
  const [withoutBuild = ''] = version.split('+', 1)
  const dash = withoutBuild.indexOf('-')
  const isStable = dash < 0
  const core = isStable ? withoutBuild : withoutBuild.slice(0, dash)
  const numbers = core.split('.').map(toSortableNumber).join('')
  if (isStable) return { precedence: `${numbers}~`, isStable }
  // A space sorts before every character of an identifier, so a shorter list sorts lower.
  const identifiers = withoutBuild.slice(dash + 1).split('.')
  return { precedence: `${numbers}!${identifiers.map(toSortableIdentifier).join(' ')}`, isStable }
}

/** Prefixes the number with its length, so that a longer number sorts higher. Versions have at most 256 characters. */
const toSortableNumber = (digits: string): string => String(digits.length).padStart(3, '0') + digits

/** Numeric identifiers sort before alphanumeric ones. */
const toSortableIdentifier = (identifier: string): string =>
  /^\d+$/.test(identifier) ? `0${toSortableNumber(identifier)}` : `1${identifier}`
