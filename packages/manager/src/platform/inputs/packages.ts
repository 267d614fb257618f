// Package names and versions in the npm format.
import { parse } from 'semver'
import validateName from 'validate-npm-package-name'

export const maxNameLength = 214

/** Whether npm allows the name for new packages: no capitals, and no characters with a meaning in URLs. */
export const isPackageName = (name: string): boolean =>
  name.length <= maxNameLength && validateName(name).validForOldPackages && !/[A-Z!'()*]/.test(name)

/** Whether the text is a version in its canonical spelling: no range, no leading v or space. */
export const isExactVersion = (version: string): boolean => {
  const parsedVersion = parse(version)
  const build =
    parsedVersion === null || parsedVersion.build.length === 0 ? '' : `+${parsedVersion.build.join('.')}`
  return parsedVersion !== null && `${parsedVersion.version}${build}` === version
}
