// These tests upload one version to a bucket several times concurrently.
import { testUploadRaces } from '../../../test/kit/upload-races.ts'

testUploadRaces('s3')
