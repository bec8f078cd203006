"""Records of Helm's releases, as stock helm keeps them in Secrets."""
import base64
import datetime
import gzip
import json


def aged(secret, by):
    """The record of a release as if that many seconds had passed since it was written."""
    record = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(secret["data"]["release"]))))
    then = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=by)).isoformat()
    record["info"]["last_deployed"] = record["info"]["first_deployed"] = then
    return base64.b64encode(base64.b64encode(gzip.compress(json.dumps(record).encode()))).decode()
