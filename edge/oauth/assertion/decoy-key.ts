/**
 * Public keys without private halves. If a client or its key is unknown, the signature is checked against one of these.
 * The answer then takes as long as for a known key.
 */
import type { JsonObject } from '../../../shared/json.ts';
import { type AssertionAlgorithm, keyTypeFor, type KeyType } from '../../../shared/oauth/algorithms.ts';

const DECOYS: Readonly<Record<KeyType, JsonObject>> = {
  RSA: {
    kty: 'RSA',
    n: 'qyL6RHa188uUvGznNelN3CRSaBojBewlbtNV_P-6QfrjQLxq8xyVn-NDP0oETgfYEsIswy_jkdEkj7emnsBBCfV5xD2oJ7bbcjnXqIFStaqlmoAcqadukqj7304P6u1CbekBuiZ-cl3mgwT1MvrdrtN4XAuSf3G12ryqUbPCvLjR5vrRJ_M-E3Vrbb7iSc03vvNVQrhGc1kpB0jCSUBFHckB69dp5QLl3trqYtx8w4CDILg-vQQPxN-ysWyobeP7GSgZ5JhPGSgO38s1chK4tnhCCsN81PiHm_8EY3GoK1nXCZQ_jHizUxRvSFMjzdiPLzhr8jUmqb_d5eZl1h_htQ',
    e: 'AQAB',
  },
  'EC P-256': {
    kty: 'EC',
    crv: 'P-256',
    x: 'pQGqcrMFta1Aki_zpiD3z8hnQbE56U9epG9Acz3066Y',
    y: '5ziSheRXV9-mpVAQT52CrYyaDbaRvSsR7njlNkjF3tw',
  },
  'EC P-384': {
    kty: 'EC',
    crv: 'P-384',
    x: 'Aj_jBXCo7PZluiQYuKHmQGPeqiFwwYbFn_7wqH90-SsyAfi3bFUgVXUTFAUJB-I6',
    y: 'bHSysqYcUDvSnVJtc6z7lu9Pi5eu5sDia1gmtilyMnTvDbWHxtb1rEd9e4tglDyc',
  },
  'OKP Ed25519': { kty: 'OKP', crv: 'Ed25519', x: 'c41nr78ZzdOiLi1kj3sRgMpPbQLx1smVfbkmMwoBc1E' },
};

export const decoyKey = (algorithm: AssertionAlgorithm): JsonObject => DECOYS[keyTypeFor(algorithm)];
