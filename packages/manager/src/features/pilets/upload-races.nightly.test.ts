// Uploads of one version race for a bucket.
import { testUploadRaces } from '../../../test/kit/upload-races.ts'

testUploadRaces('s3')
