// The version of the service, read from its package file.
import packageFile from '../package.json' with { type: 'json' }

export const version: string = packageFile.version
