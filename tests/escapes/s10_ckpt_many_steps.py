# id: s10_ckpt_many_steps
# kind: ckpt
# tries: a thousand steps, each with a checkpoint of its own
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    big = ['x' * 100 + str(i) for i in range(2000)]
    if start_from <= 1:
        assert big
    if start_from <= 2:
        assert big
    if start_from <= 3:
        assert big
    if start_from <= 4:
        assert big
    if start_from <= 5:
        assert big
    if start_from <= 6:
        assert big
    if start_from <= 7:
        assert big
    if start_from <= 8:
        assert big
    if start_from <= 9:
        assert big
    if start_from <= 10:
        assert big
    if start_from <= 11:
        assert big
    if start_from <= 12:
        assert big
    if start_from <= 13:
        assert big
    if start_from <= 14:
        assert big
    if start_from <= 15:
        assert big
    if start_from <= 16:
        assert big
    if start_from <= 17:
        assert big
    if start_from <= 18:
        assert big
    if start_from <= 19:
        assert big
    if start_from <= 20:
        assert big
    if start_from <= 21:
        assert big
    if start_from <= 22:
        assert big
    if start_from <= 23:
        assert big
    if start_from <= 24:
        assert big
    if start_from <= 25:
        assert big
    if start_from <= 26:
        assert big
    if start_from <= 27:
        assert big
    if start_from <= 28:
        assert big
    if start_from <= 29:
        assert big
    if start_from <= 30:
        assert big
    if start_from <= 31:
        assert big
    if start_from <= 32:
        assert big
    if start_from <= 33:
        assert big
    if start_from <= 34:
        assert big
    if start_from <= 35:
        assert big
    if start_from <= 36:
        assert big
    if start_from <= 37:
        assert big
    if start_from <= 38:
        assert big
    if start_from <= 39:
        assert big
    if start_from <= 40:
        assert big
    if start_from <= 41:
        assert big
    if start_from <= 42:
        assert big
    if start_from <= 43:
        assert big
    if start_from <= 44:
        assert big
    if start_from <= 45:
        assert big
    if start_from <= 46:
        assert big
    if start_from <= 47:
        assert big
    if start_from <= 48:
        assert big
    if start_from <= 49:
        assert big
    if start_from <= 50:
        assert big
    if start_from <= 51:
        assert big
    if start_from <= 52:
        assert big
    if start_from <= 53:
        assert big
    if start_from <= 54:
        assert big
    if start_from <= 55:
        assert big
    if start_from <= 56:
        assert big
    if start_from <= 57:
        assert big
    if start_from <= 58:
        assert big
    if start_from <= 59:
        assert big
    if start_from <= 60:
        assert big
    if start_from <= 61:
        assert big
    if start_from <= 62:
        assert big
    if start_from <= 63:
        assert big
    if start_from <= 64:
        assert big
    if start_from <= 65:
        assert big
    if start_from <= 66:
        assert big
    if start_from <= 67:
        assert big
    if start_from <= 68:
        assert big
    if start_from <= 69:
        assert big
    if start_from <= 70:
        assert big
    if start_from <= 71:
        assert big
    if start_from <= 72:
        assert big
    if start_from <= 73:
        assert big
    if start_from <= 74:
        assert big
    if start_from <= 75:
        assert big
    if start_from <= 76:
        assert big
    if start_from <= 77:
        assert big
    if start_from <= 78:
        assert big
    if start_from <= 79:
        assert big
    if start_from <= 80:
        assert big
    if start_from <= 81:
        assert big
    if start_from <= 82:
        assert big
    if start_from <= 83:
        assert big
    if start_from <= 84:
        assert big
    if start_from <= 85:
        assert big
    if start_from <= 86:
        assert big
    if start_from <= 87:
        assert big
    if start_from <= 88:
        assert big
    if start_from <= 89:
        assert big
    if start_from <= 90:
        assert big
    if start_from <= 91:
        assert big
    if start_from <= 92:
        assert big
    if start_from <= 93:
        assert big
    if start_from <= 94:
        assert big
    if start_from <= 95:
        assert big
    if start_from <= 96:
        assert big
    if start_from <= 97:
        assert big
    if start_from <= 98:
        assert big
    if start_from <= 99:
        assert big
    if start_from <= 100:
        assert big
    if start_from <= 101:
        assert big
    if start_from <= 102:
        assert big
    if start_from <= 103:
        assert big
    if start_from <= 104:
        assert big
    if start_from <= 105:
        assert big
    if start_from <= 106:
        assert big
    if start_from <= 107:
        assert big
    if start_from <= 108:
        assert big
    if start_from <= 109:
        assert big
    if start_from <= 110:
        assert big
    if start_from <= 111:
        assert big
    if start_from <= 112:
        assert big
    if start_from <= 113:
        assert big
    if start_from <= 114:
        assert big
    if start_from <= 115:
        assert big
    if start_from <= 116:
        assert big
    if start_from <= 117:
        assert big
    if start_from <= 118:
        assert big
    if start_from <= 119:
        assert big
    if start_from <= 120:
        assert big
    if start_from <= 121:
        assert big
    if start_from <= 122:
        assert big
    if start_from <= 123:
        assert big
    if start_from <= 124:
        assert big
    if start_from <= 125:
        assert big
    if start_from <= 126:
        assert big
    if start_from <= 127:
        assert big
    if start_from <= 128:
        assert big
    if start_from <= 129:
        assert big
    if start_from <= 130:
        assert big
    if start_from <= 131:
        assert big
    if start_from <= 132:
        assert big
    if start_from <= 133:
        assert big
    if start_from <= 134:
        assert big
    if start_from <= 135:
        assert big
    if start_from <= 136:
        assert big
    if start_from <= 137:
        assert big
    if start_from <= 138:
        assert big
    if start_from <= 139:
        assert big
    if start_from <= 140:
        assert big
    if start_from <= 141:
        assert big
    if start_from <= 142:
        assert big
    if start_from <= 143:
        assert big
    if start_from <= 144:
        assert big
    if start_from <= 145:
        assert big
    if start_from <= 146:
        assert big
    if start_from <= 147:
        assert big
    if start_from <= 148:
        assert big
    if start_from <= 149:
        assert big
    if start_from <= 150:
        assert big
    if start_from <= 151:
        assert big
    if start_from <= 152:
        assert big
    if start_from <= 153:
        assert big
    if start_from <= 154:
        assert big
    if start_from <= 155:
        assert big
    if start_from <= 156:
        assert big
    if start_from <= 157:
        assert big
    if start_from <= 158:
        assert big
    if start_from <= 159:
        assert big
    if start_from <= 160:
        assert big
    if start_from <= 161:
        assert big
    if start_from <= 162:
        assert big
    if start_from <= 163:
        assert big
    if start_from <= 164:
        assert big
    if start_from <= 165:
        assert big
    if start_from <= 166:
        assert big
    if start_from <= 167:
        assert big
    if start_from <= 168:
        assert big
    if start_from <= 169:
        assert big
    if start_from <= 170:
        assert big
    if start_from <= 171:
        assert big
    if start_from <= 172:
        assert big
    if start_from <= 173:
        assert big
    if start_from <= 174:
        assert big
    if start_from <= 175:
        assert big
    if start_from <= 176:
        assert big
    if start_from <= 177:
        assert big
    if start_from <= 178:
        assert big
    if start_from <= 179:
        assert big
    if start_from <= 180:
        assert big
    if start_from <= 181:
        assert big
    if start_from <= 182:
        assert big
    if start_from <= 183:
        assert big
    if start_from <= 184:
        assert big
    if start_from <= 185:
        assert big
    if start_from <= 186:
        assert big
    if start_from <= 187:
        assert big
    if start_from <= 188:
        assert big
    if start_from <= 189:
        assert big
    if start_from <= 190:
        assert big
    if start_from <= 191:
        assert big
    if start_from <= 192:
        assert big
    if start_from <= 193:
        assert big
    if start_from <= 194:
        assert big
    if start_from <= 195:
        assert big
    if start_from <= 196:
        assert big
    if start_from <= 197:
        assert big
    if start_from <= 198:
        assert big
    if start_from <= 199:
        assert big
    if start_from <= 200:
        assert big
    if start_from <= 201:
        assert big
    if start_from <= 202:
        assert big
    if start_from <= 203:
        assert big
    if start_from <= 204:
        assert big
    if start_from <= 205:
        assert big
    if start_from <= 206:
        assert big
    if start_from <= 207:
        assert big
    if start_from <= 208:
        assert big
    if start_from <= 209:
        assert big
    if start_from <= 210:
        assert big
    if start_from <= 211:
        assert big
    if start_from <= 212:
        assert big
    if start_from <= 213:
        assert big
    if start_from <= 214:
        assert big
    if start_from <= 215:
        assert big
    if start_from <= 216:
        assert big
    if start_from <= 217:
        assert big
    if start_from <= 218:
        assert big
    if start_from <= 219:
        assert big
    if start_from <= 220:
        assert big
    if start_from <= 221:
        assert big
    if start_from <= 222:
        assert big
    if start_from <= 223:
        assert big
    if start_from <= 224:
        assert big
    if start_from <= 225:
        assert big
    if start_from <= 226:
        assert big
    if start_from <= 227:
        assert big
    if start_from <= 228:
        assert big
    if start_from <= 229:
        assert big
    if start_from <= 230:
        assert big
    if start_from <= 231:
        assert big
    if start_from <= 232:
        assert big
    if start_from <= 233:
        assert big
    if start_from <= 234:
        assert big
    if start_from <= 235:
        assert big
    if start_from <= 236:
        assert big
    if start_from <= 237:
        assert big
    if start_from <= 238:
        assert big
    if start_from <= 239:
        assert big
    if start_from <= 240:
        assert big
    if start_from <= 241:
        assert big
    if start_from <= 242:
        assert big
    if start_from <= 243:
        assert big
    if start_from <= 244:
        assert big
    if start_from <= 245:
        assert big
    if start_from <= 246:
        assert big
    if start_from <= 247:
        assert big
    if start_from <= 248:
        assert big
    if start_from <= 249:
        assert big
    if start_from <= 250:
        assert big
    if start_from <= 251:
        assert big
    if start_from <= 252:
        assert big
    if start_from <= 253:
        assert big
    if start_from <= 254:
        assert big
    if start_from <= 255:
        assert big
    if start_from <= 256:
        assert big
    if start_from <= 257:
        assert big
    if start_from <= 258:
        assert big
    if start_from <= 259:
        assert big
    if start_from <= 260:
        assert big
    if start_from <= 261:
        assert big
    if start_from <= 262:
        assert big
    if start_from <= 263:
        assert big
    if start_from <= 264:
        assert big
    if start_from <= 265:
        assert big
    if start_from <= 266:
        assert big
    if start_from <= 267:
        assert big
    if start_from <= 268:
        assert big
    if start_from <= 269:
        assert big
    if start_from <= 270:
        assert big
    if start_from <= 271:
        assert big
    if start_from <= 272:
        assert big
    if start_from <= 273:
        assert big
    if start_from <= 274:
        assert big
    if start_from <= 275:
        assert big
    if start_from <= 276:
        assert big
    if start_from <= 277:
        assert big
    if start_from <= 278:
        assert big
    if start_from <= 279:
        assert big
    if start_from <= 280:
        assert big
    if start_from <= 281:
        assert big
    if start_from <= 282:
        assert big
    if start_from <= 283:
        assert big
    if start_from <= 284:
        assert big
    if start_from <= 285:
        assert big
    if start_from <= 286:
        assert big
    if start_from <= 287:
        assert big
    if start_from <= 288:
        assert big
    if start_from <= 289:
        assert big
    if start_from <= 290:
        assert big
    if start_from <= 291:
        assert big
    if start_from <= 292:
        assert big
    if start_from <= 293:
        assert big
    if start_from <= 294:
        assert big
    if start_from <= 295:
        assert big
    if start_from <= 296:
        assert big
    if start_from <= 297:
        assert big
    if start_from <= 298:
        assert big
    if start_from <= 299:
        assert big
    if start_from <= 300:
        assert big
    if start_from <= 301:
        assert big
    if start_from <= 302:
        assert big
    if start_from <= 303:
        assert big
    if start_from <= 304:
        assert big
    if start_from <= 305:
        assert big
    if start_from <= 306:
        assert big
    if start_from <= 307:
        assert big
    if start_from <= 308:
        assert big
    if start_from <= 309:
        assert big
    if start_from <= 310:
        assert big
    if start_from <= 311:
        assert big
    if start_from <= 312:
        assert big
    if start_from <= 313:
        assert big
    if start_from <= 314:
        assert big
    if start_from <= 315:
        assert big
    if start_from <= 316:
        assert big
    if start_from <= 317:
        assert big
    if start_from <= 318:
        assert big
    if start_from <= 319:
        assert big
    if start_from <= 320:
        assert big
    if start_from <= 321:
        assert big
    if start_from <= 322:
        assert big
    if start_from <= 323:
        assert big
    if start_from <= 324:
        assert big
    if start_from <= 325:
        assert big
    if start_from <= 326:
        assert big
    if start_from <= 327:
        assert big
    if start_from <= 328:
        assert big
    if start_from <= 329:
        assert big
    if start_from <= 330:
        assert big
    if start_from <= 331:
        assert big
    if start_from <= 332:
        assert big
    if start_from <= 333:
        assert big
    if start_from <= 334:
        assert big
    if start_from <= 335:
        assert big
    if start_from <= 336:
        assert big
    if start_from <= 337:
        assert big
    if start_from <= 338:
        assert big
    if start_from <= 339:
        assert big
    if start_from <= 340:
        assert big
    if start_from <= 341:
        assert big
    if start_from <= 342:
        assert big
    if start_from <= 343:
        assert big
    if start_from <= 344:
        assert big
    if start_from <= 345:
        assert big
    if start_from <= 346:
        assert big
    if start_from <= 347:
        assert big
    if start_from <= 348:
        assert big
    if start_from <= 349:
        assert big
    if start_from <= 350:
        assert big
    if start_from <= 351:
        assert big
    if start_from <= 352:
        assert big
    if start_from <= 353:
        assert big
    if start_from <= 354:
        assert big
    if start_from <= 355:
        assert big
    if start_from <= 356:
        assert big
    if start_from <= 357:
        assert big
    if start_from <= 358:
        assert big
    if start_from <= 359:
        assert big
    if start_from <= 360:
        assert big
    if start_from <= 361:
        assert big
    if start_from <= 362:
        assert big
    if start_from <= 363:
        assert big
    if start_from <= 364:
        assert big
    if start_from <= 365:
        assert big
    if start_from <= 366:
        assert big
    if start_from <= 367:
        assert big
    if start_from <= 368:
        assert big
    if start_from <= 369:
        assert big
    if start_from <= 370:
        assert big
    if start_from <= 371:
        assert big
    if start_from <= 372:
        assert big
    if start_from <= 373:
        assert big
    if start_from <= 374:
        assert big
    if start_from <= 375:
        assert big
    if start_from <= 376:
        assert big
    if start_from <= 377:
        assert big
    if start_from <= 378:
        assert big
    if start_from <= 379:
        assert big
    if start_from <= 380:
        assert big
    if start_from <= 381:
        assert big
    if start_from <= 382:
        assert big
    if start_from <= 383:
        assert big
    if start_from <= 384:
        assert big
    if start_from <= 385:
        assert big
    if start_from <= 386:
        assert big
    if start_from <= 387:
        assert big
    if start_from <= 388:
        assert big
    if start_from <= 389:
        assert big
    if start_from <= 390:
        assert big
    if start_from <= 391:
        assert big
    if start_from <= 392:
        assert big
    if start_from <= 393:
        assert big
    if start_from <= 394:
        assert big
    if start_from <= 395:
        assert big
    if start_from <= 396:
        assert big
    if start_from <= 397:
        assert big
    if start_from <= 398:
        assert big
    if start_from <= 399:
        assert big
    if start_from <= 400:
        assert big
    if start_from <= 401:
        assert big
    if start_from <= 402:
        assert big
    if start_from <= 403:
        assert big
    if start_from <= 404:
        assert big
    if start_from <= 405:
        assert big
    if start_from <= 406:
        assert big
    if start_from <= 407:
        assert big
    if start_from <= 408:
        assert big
    if start_from <= 409:
        assert big
    if start_from <= 410:
        assert big
    if start_from <= 411:
        assert big
    if start_from <= 412:
        assert big
    if start_from <= 413:
        assert big
    if start_from <= 414:
        assert big
    if start_from <= 415:
        assert big
    if start_from <= 416:
        assert big
    if start_from <= 417:
        assert big
    if start_from <= 418:
        assert big
    if start_from <= 419:
        assert big
    if start_from <= 420:
        assert big
    if start_from <= 421:
        assert big
    if start_from <= 422:
        assert big
    if start_from <= 423:
        assert big
    if start_from <= 424:
        assert big
    if start_from <= 425:
        assert big
    if start_from <= 426:
        assert big
    if start_from <= 427:
        assert big
    if start_from <= 428:
        assert big
    if start_from <= 429:
        assert big
    if start_from <= 430:
        assert big
    if start_from <= 431:
        assert big
    if start_from <= 432:
        assert big
    if start_from <= 433:
        assert big
    if start_from <= 434:
        assert big
    if start_from <= 435:
        assert big
    if start_from <= 436:
        assert big
    if start_from <= 437:
        assert big
    if start_from <= 438:
        assert big
    if start_from <= 439:
        assert big
    if start_from <= 440:
        assert big
    if start_from <= 441:
        assert big
    if start_from <= 442:
        assert big
    if start_from <= 443:
        assert big
    if start_from <= 444:
        assert big
    if start_from <= 445:
        assert big
    if start_from <= 446:
        assert big
    if start_from <= 447:
        assert big
    if start_from <= 448:
        assert big
    if start_from <= 449:
        assert big
    if start_from <= 450:
        assert big
    if start_from <= 451:
        assert big
    if start_from <= 452:
        assert big
    if start_from <= 453:
        assert big
    if start_from <= 454:
        assert big
    if start_from <= 455:
        assert big
    if start_from <= 456:
        assert big
    if start_from <= 457:
        assert big
    if start_from <= 458:
        assert big
    if start_from <= 459:
        assert big
    if start_from <= 460:
        assert big
    if start_from <= 461:
        assert big
    if start_from <= 462:
        assert big
    if start_from <= 463:
        assert big
    if start_from <= 464:
        assert big
    if start_from <= 465:
        assert big
    if start_from <= 466:
        assert big
    if start_from <= 467:
        assert big
    if start_from <= 468:
        assert big
    if start_from <= 469:
        assert big
    if start_from <= 470:
        assert big
    if start_from <= 471:
        assert big
    if start_from <= 472:
        assert big
    if start_from <= 473:
        assert big
    if start_from <= 474:
        assert big
    if start_from <= 475:
        assert big
    if start_from <= 476:
        assert big
    if start_from <= 477:
        assert big
    if start_from <= 478:
        assert big
    if start_from <= 479:
        assert big
    if start_from <= 480:
        assert big
    if start_from <= 481:
        assert big
    if start_from <= 482:
        assert big
    if start_from <= 483:
        assert big
    if start_from <= 484:
        assert big
    if start_from <= 485:
        assert big
    if start_from <= 486:
        assert big
    if start_from <= 487:
        assert big
    if start_from <= 488:
        assert big
    if start_from <= 489:
        assert big
    if start_from <= 490:
        assert big
    if start_from <= 491:
        assert big
    if start_from <= 492:
        assert big
    if start_from <= 493:
        assert big
    if start_from <= 494:
        assert big
    if start_from <= 495:
        assert big
    if start_from <= 496:
        assert big
    if start_from <= 497:
        assert big
    if start_from <= 498:
        assert big
    if start_from <= 499:
        assert big
    if start_from <= 500:
        assert big
    if start_from <= 501:
        assert big
    if start_from <= 502:
        assert big
    if start_from <= 503:
        assert big
    if start_from <= 504:
        assert big
    if start_from <= 505:
        assert big
    if start_from <= 506:
        assert big
    if start_from <= 507:
        assert big
    if start_from <= 508:
        assert big
    if start_from <= 509:
        assert big
    if start_from <= 510:
        assert big
    if start_from <= 511:
        assert big
    if start_from <= 512:
        assert big
    if start_from <= 513:
        assert big
    if start_from <= 514:
        assert big
    if start_from <= 515:
        assert big
    if start_from <= 516:
        assert big
    if start_from <= 517:
        assert big
    if start_from <= 518:
        assert big
    if start_from <= 519:
        assert big
    if start_from <= 520:
        assert big
    if start_from <= 521:
        assert big
    if start_from <= 522:
        assert big
    if start_from <= 523:
        assert big
    if start_from <= 524:
        assert big
    if start_from <= 525:
        assert big
    if start_from <= 526:
        assert big
    if start_from <= 527:
        assert big
    if start_from <= 528:
        assert big
    if start_from <= 529:
        assert big
    if start_from <= 530:
        assert big
    if start_from <= 531:
        assert big
    if start_from <= 532:
        assert big
    if start_from <= 533:
        assert big
    if start_from <= 534:
        assert big
    if start_from <= 535:
        assert big
    if start_from <= 536:
        assert big
    if start_from <= 537:
        assert big
    if start_from <= 538:
        assert big
    if start_from <= 539:
        assert big
    if start_from <= 540:
        assert big
    if start_from <= 541:
        assert big
    if start_from <= 542:
        assert big
    if start_from <= 543:
        assert big
    if start_from <= 544:
        assert big
    if start_from <= 545:
        assert big
    if start_from <= 546:
        assert big
    if start_from <= 547:
        assert big
    if start_from <= 548:
        assert big
    if start_from <= 549:
        assert big
    if start_from <= 550:
        assert big
    if start_from <= 551:
        assert big
    if start_from <= 552:
        assert big
    if start_from <= 553:
        assert big
    if start_from <= 554:
        assert big
    if start_from <= 555:
        assert big
    if start_from <= 556:
        assert big
    if start_from <= 557:
        assert big
    if start_from <= 558:
        assert big
    if start_from <= 559:
        assert big
    if start_from <= 560:
        assert big
    if start_from <= 561:
        assert big
    if start_from <= 562:
        assert big
    if start_from <= 563:
        assert big
    if start_from <= 564:
        assert big
    if start_from <= 565:
        assert big
    if start_from <= 566:
        assert big
    if start_from <= 567:
        assert big
    if start_from <= 568:
        assert big
    if start_from <= 569:
        assert big
    if start_from <= 570:
        assert big
    if start_from <= 571:
        assert big
    if start_from <= 572:
        assert big
    if start_from <= 573:
        assert big
    if start_from <= 574:
        assert big
    if start_from <= 575:
        assert big
    if start_from <= 576:
        assert big
    if start_from <= 577:
        assert big
    if start_from <= 578:
        assert big
    if start_from <= 579:
        assert big
    if start_from <= 580:
        assert big
    if start_from <= 581:
        assert big
    if start_from <= 582:
        assert big
    if start_from <= 583:
        assert big
    if start_from <= 584:
        assert big
    if start_from <= 585:
        assert big
    if start_from <= 586:
        assert big
    if start_from <= 587:
        assert big
    if start_from <= 588:
        assert big
    if start_from <= 589:
        assert big
    if start_from <= 590:
        assert big
    if start_from <= 591:
        assert big
    if start_from <= 592:
        assert big
    if start_from <= 593:
        assert big
    if start_from <= 594:
        assert big
    if start_from <= 595:
        assert big
    if start_from <= 596:
        assert big
    if start_from <= 597:
        assert big
    if start_from <= 598:
        assert big
    if start_from <= 599:
        assert big
    if start_from <= 600:
        assert big
    if start_from <= 601:
        assert big
    if start_from <= 602:
        assert big
    if start_from <= 603:
        assert big
    if start_from <= 604:
        assert big
    if start_from <= 605:
        assert big
    if start_from <= 606:
        assert big
    if start_from <= 607:
        assert big
    if start_from <= 608:
        assert big
    if start_from <= 609:
        assert big
    if start_from <= 610:
        assert big
    if start_from <= 611:
        assert big
    if start_from <= 612:
        assert big
    if start_from <= 613:
        assert big
    if start_from <= 614:
        assert big
    if start_from <= 615:
        assert big
    if start_from <= 616:
        assert big
    if start_from <= 617:
        assert big
    if start_from <= 618:
        assert big
    if start_from <= 619:
        assert big
    if start_from <= 620:
        assert big
    if start_from <= 621:
        assert big
    if start_from <= 622:
        assert big
    if start_from <= 623:
        assert big
    if start_from <= 624:
        assert big
    if start_from <= 625:
        assert big
    if start_from <= 626:
        assert big
    if start_from <= 627:
        assert big
    if start_from <= 628:
        assert big
    if start_from <= 629:
        assert big
    if start_from <= 630:
        assert big
    if start_from <= 631:
        assert big
    if start_from <= 632:
        assert big
    if start_from <= 633:
        assert big
    if start_from <= 634:
        assert big
    if start_from <= 635:
        assert big
    if start_from <= 636:
        assert big
    if start_from <= 637:
        assert big
    if start_from <= 638:
        assert big
    if start_from <= 639:
        assert big
    if start_from <= 640:
        assert big
    if start_from <= 641:
        assert big
    if start_from <= 642:
        assert big
    if start_from <= 643:
        assert big
    if start_from <= 644:
        assert big
    if start_from <= 645:
        assert big
    if start_from <= 646:
        assert big
    if start_from <= 647:
        assert big
    if start_from <= 648:
        assert big
    if start_from <= 649:
        assert big
    if start_from <= 650:
        assert big
    if start_from <= 651:
        assert big
    if start_from <= 652:
        assert big
    if start_from <= 653:
        assert big
    if start_from <= 654:
        assert big
    if start_from <= 655:
        assert big
    if start_from <= 656:
        assert big
    if start_from <= 657:
        assert big
    if start_from <= 658:
        assert big
    if start_from <= 659:
        assert big
    if start_from <= 660:
        assert big
    if start_from <= 661:
        assert big
    if start_from <= 662:
        assert big
    if start_from <= 663:
        assert big
    if start_from <= 664:
        assert big
    if start_from <= 665:
        assert big
    if start_from <= 666:
        assert big
    if start_from <= 667:
        assert big
    if start_from <= 668:
        assert big
    if start_from <= 669:
        assert big
    if start_from <= 670:
        assert big
    if start_from <= 671:
        assert big
    if start_from <= 672:
        assert big
    if start_from <= 673:
        assert big
    if start_from <= 674:
        assert big
    if start_from <= 675:
        assert big
    if start_from <= 676:
        assert big
    if start_from <= 677:
        assert big
    if start_from <= 678:
        assert big
    if start_from <= 679:
        assert big
    if start_from <= 680:
        assert big
    if start_from <= 681:
        assert big
    if start_from <= 682:
        assert big
    if start_from <= 683:
        assert big
    if start_from <= 684:
        assert big
    if start_from <= 685:
        assert big
    if start_from <= 686:
        assert big
    if start_from <= 687:
        assert big
    if start_from <= 688:
        assert big
    if start_from <= 689:
        assert big
    if start_from <= 690:
        assert big
    if start_from <= 691:
        assert big
    if start_from <= 692:
        assert big
    if start_from <= 693:
        assert big
    if start_from <= 694:
        assert big
    if start_from <= 695:
        assert big
    if start_from <= 696:
        assert big
    if start_from <= 697:
        assert big
    if start_from <= 698:
        assert big
    if start_from <= 699:
        assert big
    if start_from <= 700:
        assert big
    if start_from <= 701:
        assert big
    if start_from <= 702:
        assert big
    if start_from <= 703:
        assert big
    if start_from <= 704:
        assert big
    if start_from <= 705:
        assert big
    if start_from <= 706:
        assert big
    if start_from <= 707:
        assert big
    if start_from <= 708:
        assert big
    if start_from <= 709:
        assert big
    if start_from <= 710:
        assert big
    if start_from <= 711:
        assert big
    if start_from <= 712:
        assert big
    if start_from <= 713:
        assert big
    if start_from <= 714:
        assert big
    if start_from <= 715:
        assert big
    if start_from <= 716:
        assert big
    if start_from <= 717:
        assert big
    if start_from <= 718:
        assert big
    if start_from <= 719:
        assert big
    if start_from <= 720:
        assert big
    if start_from <= 721:
        assert big
    if start_from <= 722:
        assert big
    if start_from <= 723:
        assert big
    if start_from <= 724:
        assert big
    if start_from <= 725:
        assert big
    if start_from <= 726:
        assert big
    if start_from <= 727:
        assert big
    if start_from <= 728:
        assert big
    if start_from <= 729:
        assert big
    if start_from <= 730:
        assert big
    if start_from <= 731:
        assert big
    if start_from <= 732:
        assert big
    if start_from <= 733:
        assert big
    if start_from <= 734:
        assert big
    if start_from <= 735:
        assert big
    if start_from <= 736:
        assert big
    if start_from <= 737:
        assert big
    if start_from <= 738:
        assert big
    if start_from <= 739:
        assert big
    if start_from <= 740:
        assert big
    if start_from <= 741:
        assert big
    if start_from <= 742:
        assert big
    if start_from <= 743:
        assert big
    if start_from <= 744:
        assert big
    if start_from <= 745:
        assert big
    if start_from <= 746:
        assert big
    if start_from <= 747:
        assert big
    if start_from <= 748:
        assert big
    if start_from <= 749:
        assert big
    if start_from <= 750:
        assert big
    if start_from <= 751:
        assert big
    if start_from <= 752:
        assert big
    if start_from <= 753:
        assert big
    if start_from <= 754:
        assert big
    if start_from <= 755:
        assert big
    if start_from <= 756:
        assert big
    if start_from <= 757:
        assert big
    if start_from <= 758:
        assert big
    if start_from <= 759:
        assert big
    if start_from <= 760:
        assert big
    if start_from <= 761:
        assert big
    if start_from <= 762:
        assert big
    if start_from <= 763:
        assert big
    if start_from <= 764:
        assert big
    if start_from <= 765:
        assert big
    if start_from <= 766:
        assert big
    if start_from <= 767:
        assert big
    if start_from <= 768:
        assert big
    if start_from <= 769:
        assert big
    if start_from <= 770:
        assert big
    if start_from <= 771:
        assert big
    if start_from <= 772:
        assert big
    if start_from <= 773:
        assert big
    if start_from <= 774:
        assert big
    if start_from <= 775:
        assert big
    if start_from <= 776:
        assert big
    if start_from <= 777:
        assert big
    if start_from <= 778:
        assert big
    if start_from <= 779:
        assert big
    if start_from <= 780:
        assert big
    if start_from <= 781:
        assert big
    if start_from <= 782:
        assert big
    if start_from <= 783:
        assert big
    if start_from <= 784:
        assert big
    if start_from <= 785:
        assert big
    if start_from <= 786:
        assert big
    if start_from <= 787:
        assert big
    if start_from <= 788:
        assert big
    if start_from <= 789:
        assert big
    if start_from <= 790:
        assert big
    if start_from <= 791:
        assert big
    if start_from <= 792:
        assert big
    if start_from <= 793:
        assert big
    if start_from <= 794:
        assert big
    if start_from <= 795:
        assert big
    if start_from <= 796:
        assert big
    if start_from <= 797:
        assert big
    if start_from <= 798:
        assert big
    if start_from <= 799:
        assert big
    if start_from <= 800:
        assert big
    if start_from <= 801:
        assert big
    if start_from <= 802:
        assert big
    if start_from <= 803:
        assert big
    if start_from <= 804:
        assert big
    if start_from <= 805:
        assert big
    if start_from <= 806:
        assert big
    if start_from <= 807:
        assert big
    if start_from <= 808:
        assert big
    if start_from <= 809:
        assert big
    if start_from <= 810:
        assert big
    if start_from <= 811:
        assert big
    if start_from <= 812:
        assert big
    if start_from <= 813:
        assert big
    if start_from <= 814:
        assert big
    if start_from <= 815:
        assert big
    if start_from <= 816:
        assert big
    if start_from <= 817:
        assert big
    if start_from <= 818:
        assert big
    if start_from <= 819:
        assert big
    if start_from <= 820:
        assert big
    if start_from <= 821:
        assert big
    if start_from <= 822:
        assert big
    if start_from <= 823:
        assert big
    if start_from <= 824:
        assert big
    if start_from <= 825:
        assert big
    if start_from <= 826:
        assert big
    if start_from <= 827:
        assert big
    if start_from <= 828:
        assert big
    if start_from <= 829:
        assert big
    if start_from <= 830:
        assert big
    if start_from <= 831:
        assert big
    if start_from <= 832:
        assert big
    if start_from <= 833:
        assert big
    if start_from <= 834:
        assert big
    if start_from <= 835:
        assert big
    if start_from <= 836:
        assert big
    if start_from <= 837:
        assert big
    if start_from <= 838:
        assert big
    if start_from <= 839:
        assert big
    if start_from <= 840:
        assert big
    if start_from <= 841:
        assert big
    if start_from <= 842:
        assert big
    if start_from <= 843:
        assert big
    if start_from <= 844:
        assert big
    if start_from <= 845:
        assert big
    if start_from <= 846:
        assert big
    if start_from <= 847:
        assert big
    if start_from <= 848:
        assert big
    if start_from <= 849:
        assert big
    if start_from <= 850:
        assert big
    if start_from <= 851:
        assert big
    if start_from <= 852:
        assert big
    if start_from <= 853:
        assert big
    if start_from <= 854:
        assert big
    if start_from <= 855:
        assert big
    if start_from <= 856:
        assert big
    if start_from <= 857:
        assert big
    if start_from <= 858:
        assert big
    if start_from <= 859:
        assert big
    if start_from <= 860:
        assert big
    if start_from <= 861:
        assert big
    if start_from <= 862:
        assert big
    if start_from <= 863:
        assert big
    if start_from <= 864:
        assert big
    if start_from <= 865:
        assert big
    if start_from <= 866:
        assert big
    if start_from <= 867:
        assert big
    if start_from <= 868:
        assert big
    if start_from <= 869:
        assert big
    if start_from <= 870:
        assert big
    if start_from <= 871:
        assert big
    if start_from <= 872:
        assert big
    if start_from <= 873:
        assert big
    if start_from <= 874:
        assert big
    if start_from <= 875:
        assert big
    if start_from <= 876:
        assert big
    if start_from <= 877:
        assert big
    if start_from <= 878:
        assert big
    if start_from <= 879:
        assert big
    if start_from <= 880:
        assert big
    if start_from <= 881:
        assert big
    if start_from <= 882:
        assert big
    if start_from <= 883:
        assert big
    if start_from <= 884:
        assert big
    if start_from <= 885:
        assert big
    if start_from <= 886:
        assert big
    if start_from <= 887:
        assert big
    if start_from <= 888:
        assert big
    if start_from <= 889:
        assert big
    if start_from <= 890:
        assert big
    if start_from <= 891:
        assert big
    if start_from <= 892:
        assert big
    if start_from <= 893:
        assert big
    if start_from <= 894:
        assert big
    if start_from <= 895:
        assert big
    if start_from <= 896:
        assert big
    if start_from <= 897:
        assert big
    if start_from <= 898:
        assert big
    if start_from <= 899:
        assert big
    if start_from <= 900:
        assert big
    if start_from <= 901:
        assert big
    if start_from <= 902:
        assert big
    if start_from <= 903:
        assert big
    if start_from <= 904:
        assert big
    if start_from <= 905:
        assert big
    if start_from <= 906:
        assert big
    if start_from <= 907:
        assert big
    if start_from <= 908:
        assert big
    if start_from <= 909:
        assert big
    if start_from <= 910:
        assert big
    if start_from <= 911:
        assert big
    if start_from <= 912:
        assert big
    if start_from <= 913:
        assert big
    if start_from <= 914:
        assert big
    if start_from <= 915:
        assert big
    if start_from <= 916:
        assert big
    if start_from <= 917:
        assert big
    if start_from <= 918:
        assert big
    if start_from <= 919:
        assert big
    if start_from <= 920:
        assert big
    if start_from <= 921:
        assert big
    if start_from <= 922:
        assert big
    if start_from <= 923:
        assert big
    if start_from <= 924:
        assert big
    if start_from <= 925:
        assert big
    if start_from <= 926:
        assert big
    if start_from <= 927:
        assert big
    if start_from <= 928:
        assert big
    if start_from <= 929:
        assert big
    if start_from <= 930:
        assert big
    if start_from <= 931:
        assert big
    if start_from <= 932:
        assert big
    if start_from <= 933:
        assert big
    if start_from <= 934:
        assert big
    if start_from <= 935:
        assert big
    if start_from <= 936:
        assert big
    if start_from <= 937:
        assert big
    if start_from <= 938:
        assert big
    if start_from <= 939:
        assert big
    if start_from <= 940:
        assert big
    if start_from <= 941:
        assert big
    if start_from <= 942:
        assert big
    if start_from <= 943:
        assert big
    if start_from <= 944:
        assert big
    if start_from <= 945:
        assert big
    if start_from <= 946:
        assert big
    if start_from <= 947:
        assert big
    if start_from <= 948:
        assert big
    if start_from <= 949:
        assert big
    if start_from <= 950:
        assert big
    if start_from <= 951:
        assert big
    if start_from <= 952:
        assert big
    if start_from <= 953:
        assert big
    if start_from <= 954:
        assert big
    if start_from <= 955:
        assert big
    if start_from <= 956:
        assert big
    if start_from <= 957:
        assert big
    if start_from <= 958:
        assert big
    if start_from <= 959:
        assert big
    if start_from <= 960:
        assert big
    if start_from <= 961:
        assert big
    if start_from <= 962:
        assert big
    if start_from <= 963:
        assert big
    if start_from <= 964:
        assert big
    if start_from <= 965:
        assert big
    if start_from <= 966:
        assert big
    if start_from <= 967:
        assert big
    if start_from <= 968:
        assert big
    if start_from <= 969:
        assert big
    if start_from <= 970:
        assert big
    if start_from <= 971:
        assert big
    if start_from <= 972:
        assert big
    if start_from <= 973:
        assert big
    if start_from <= 974:
        assert big
    if start_from <= 975:
        assert big
    if start_from <= 976:
        assert big
    if start_from <= 977:
        assert big
    if start_from <= 978:
        assert big
    if start_from <= 979:
        assert big
    if start_from <= 980:
        assert big
    if start_from <= 981:
        assert big
    if start_from <= 982:
        assert big
    if start_from <= 983:
        assert big
    if start_from <= 984:
        assert big
    if start_from <= 985:
        assert big
    if start_from <= 986:
        assert big
    if start_from <= 987:
        assert big
    if start_from <= 988:
        assert big
    if start_from <= 989:
        assert big
    if start_from <= 990:
        assert big
    if start_from <= 991:
        assert big
    if start_from <= 992:
        assert big
    if start_from <= 993:
        assert big
    if start_from <= 994:
        assert big
    if start_from <= 995:
        assert big
    if start_from <= 996:
        assert big
    if start_from <= 997:
        assert big
    if start_from <= 998:
        assert big
    if start_from <= 999:
        assert big
    if start_from <= 1000:
        assert big
