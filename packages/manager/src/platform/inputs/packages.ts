// Names and versions of packages, as npm has them.
import { parse } from 'semver'
import validateName from 'validate-npm-package-name'

export const maxNameLength = 214

/**
 * In the grammar of npm, without what the registry allows in old names alone: capitals and marks that URLs give a
 * meaning.
 */
export const isPackageName = (name: string): boolean =>
  name.length <= maxNameLength && validateName(name).validForOldPackages && !/[A-Z!'()*]/.test(name)

/** A version in the one spelling it has: no range, no leading v or space. */
export const isExactVersion = (version: string): boolean => {
  const parsed = parse(version)
  const build = parsed === null || parsed.build.length === 0 ? '' : `+${parsed.build.join('.')}`
  return parsed !== null && `${parsed.version}${build}` === version
}
